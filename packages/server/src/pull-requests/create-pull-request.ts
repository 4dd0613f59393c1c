import Type from 'typebox';
import type { Static } from 'typebox';
import type { EventScope, Tx } from '../db/transaction.ts';
import { requireNoHost } from '../hosts/index.ts';
import { requirePermissions } from '../http/authorize.ts';
import { ApiError, invalid, notFound } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { seesProject } from '../http/principal.ts';
import { Body, Ok, Text } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { outsideWrite } from '../receipts/outside-write.ts';
import { creating, decideOpening, decideRecord } from '../sync/index.ts';
import type { Creating } from '../sync/index.ts';
import { lockThread } from '../threads/index.ts';
import { MAX_BODY, MAX_TITLE, PullRequest } from './schemas.ts';
import { findByNumber } from './store.ts';

const NewPullRequest = Body({
  title: Type.Optional(Text('Overdue reminders', { minLength: 1, maxLength: MAX_TITLE })),
  body: Type.Optional(Text('Reminds customers of overdue invoices.', { maxLength: MAX_BODY })),
  draft: Type.Optional(Type.Boolean()),
  base: Type.Optional(Text('main', { minLength: 1, maxLength: 255 })),
  number: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [7],
      description:
        'Takes over an open pull request from a branch of the repository into the base branch of the thread. Only `reviewLoop` may be sent with it.',
    }),
  ),
  reviewLoop: Type.Optional(
    Body({ enabled: Type.Optional(Type.Boolean()), autoMerge: Type.Optional(Type.Boolean()) }),
  ),
  commentOnIssue: Type.Optional(
    Type.Boolean({ description: "Posts one comment with its address on the thread's issue." }),
  ),
});
type New = Static<typeof NewPullRequest>;

/** What does not go with the number of a pull request that is there. */
function requireAlone(body: New): void {
  if (body.number === undefined) return;
  const given = Object.keys(body).filter((name) => name !== 'number' && name !== 'reviewLoop');
  if (given.length > 0)
    throw invalid(
      ...given.map((name) => ({ path: `/${name}`, message: 'must not be given together with number' })),
    );
}

async function claim(
  tx: Tx,
  call: NewCall,
  operationId: string,
): Promise<{ target: Creating; scope: EventScope }> {
  const loaded = await lockThread(tx, call);
  const { body, principal, address } = call;
  const record = await decideRecord(tx, loaded, {
    reviewLoop: body.reviewLoop,
    createdBy: principal.actorId,
    address,
    heldBy: operationId,
  });
  const scope = scopeOf(loaded.project);
  if (body.number === undefined)
    return { target: await decideOpening(tx, call.ctx, { ...loaded, record }, body), scope };
  requireNoHost(loaded.thread, 'direct');
  const { base_commit_sha: baseCommitSha, base_branch: baseBranch } = loaded.thread;
  if (baseCommitSha === null || baseBranch === null) throw nothingFetched();
  await requireSeen(tx, call, { repositoryId: record.repositoryId, number: body.number });
  return { target: { ...record, number: body.number, baseBranch }, scope };
}

/** A restricted key takes none from a thread of another project: throws 404. */
async function requireSeen(
  tx: Tx,
  { principal }: NewCall,
  { repositoryId, number }: { repositoryId: string; number: number },
): Promise<void> {
  const known = await findByNumber(tx.db, repositoryId, number);
  const holders = known.filter(({ transferred_at: lost }) => lost === null);
  if (!holders.every((row) => seesProject(principal, row.project_id))) throw notFound('pull_request');
}

type NewCall = Call<Record<string, never>, New>;

const nothingFetched = () =>
  new ApiError(
    'no_changes',
    'The repository has not been fetched for the thread yet. Wait until the thread is ready.',
  );

export const createPullRequest = outsideWrite({
  name: 'pullRequests.createPullRequest',
  summary: "Open a pull request with the thread's changes",
  description:
    'Pushes one commit on the base commit as a new branch. Later changes of the thread are pushed while it is open. `title`, `body` and `base` default to values from the thread.',
  access: { permissions: ['thread:update'] },
  capability: 'sourceControl',
  body: NewPullRequest,
  responses: { 201: Ok({ pullRequest: PullRequest }) },
  errors: [503],
  async claim(tx, call, operationId) {
    requireAlone(call.body);
    if (call.body.reviewLoop?.autoMerge === true) requirePermissions(call, ['repo:update']);
    return claim(tx, call, operationId);
  },
  effect: creating,
});
