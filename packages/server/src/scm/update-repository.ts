import { audit } from '../audit/index.ts';
import { notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { lookSoon } from './look-soon.ts';
import { openHosted, requireHosted } from './open-repository.ts';
import { loadRepository } from './policy.ts';
import { Repository, RepositoryChange } from './schemas.ts';
import { saveRepository } from './store.ts';
import { repositoryView } from './view.ts';

export const updateRepository = write({
  name: 'scm.updateRepository',
  summary: 'Change a repository that this service hosts',
  description: 'Changes only the given fields. The default branch has to exist.',
  access: { permissions: ['repo:update'] },
  capability: 'sourceControl',
  body: RepositoryChange,
  responses: { 200: Ok({ repository: Repository }) },
  /** git is asked before the transaction. */
  async before(call) {
    if (call.body.defaultBranch === undefined) return { hasBranch: true };
    try {
      const { provider, at } = await openHosted(call);
      const [branch] = await provider.listBranches(at, {
        prefix: call.body.defaultBranch,
        after: null,
        limit: 1,
      });
      return { hasBranch: branch?.name === call.body.defaultBranch };
    } catch {
      // The transaction refuses what is not there, and a repeated call gets its first answer.
      return { hasBranch: false };
    }
  },
  async handle(tx, call, _, { hasBranch }) {
    const { ctx, principal, params, body } = call;
    const before = await loadRepository(tx.db, principal, params.repositoryId!, 'update');
    requireHosted(before);
    if (!hasBranch) throw notFound('branch');
    const row = await saveRepository(tx, before.id, {
      default_branch: body.defaultBranch ?? before.default_branch,
      required_checks: body.requiredChecks ?? before.required_checks,
      merge_methods: body.mergeMethods ?? before.merge_methods,
    });
    await lookSoon(tx, row);
    await audit(tx, call, 'repository.updated', row.id);
    return { status: 200, body: { ok: true, repository: repositoryView(ctx, row) } };
  },
});
