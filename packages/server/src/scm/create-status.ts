import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { enqueueSyncs } from '../pull-requests/index.ts';
import { requireCommit } from './commits.ts';
import { openHosted, requireHosted } from './open-repository.ts';
import { loadRepository } from './policy.ts';
import { NewStatus, Status } from './schemas.ts';
import { insertStatus } from './store.ts';
import { statusView } from './view.ts';

export const createStatus = write({
  name: 'scm.createStatus',
  summary: 'Report the status of a commit',
  description:
    "For CI, in a repository that this service hosts. A context's newest status counts; pull requests with the commit as their head show it as a check.",
  access: { permissions: ['repo:update'] },
  capability: 'sourceControl',
  body: NewStatus,
  responses: { 201: Ok({ status: Status }) },
  /** git is asked before the transaction; a repeated call gets its first answer. */
  before: async (call) =>
    openHosted(call)
      .then((repository) => requireCommit(repository, call.params.commitSha!))
      .then(
        () => ({ refusal: null }),
        (refusal: unknown) => ({ refusal }),
      ),
  async handle(tx, { principal, params, body }, _, { refusal }) {
    const repository = await loadRepository(tx.db, principal, params.repositoryId!, 'share');
    requireHosted(repository);
    if (refusal !== null) throw refusal;
    const row = await insertStatus(tx, {
      org_id: principal.orgId,
      id: newId('cst'),
      repository_id: repository.id,
      commit_sha: params.commitSha!,
      context: body.context,
      state: body.state,
      description: body.description ?? null,
      target_url: body.targetUrl ?? null,
      log: body.log ?? null,
      created_by: principal.actorId,
    });
    await enqueueSyncs(tx, repository.id, { commitSha: params.commitSha! });
    return { status: 201, body: { ok: true, status: statusView(row) } };
  },
});
