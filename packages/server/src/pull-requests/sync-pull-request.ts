import Type from 'typebox';
import type { PullRequestRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { requireNoHost } from '../hosts/index.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Enum, Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { isOthers, lockAsked, notOpen } from '../sync/index.ts';
import { requireIdle, requireOpen } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { changePullRequest } from './change-pull-request.ts';
import { enqueueSync } from './enqueue-sync.ts';
import { PullRequest } from './schemas.ts';
import { pushAfter } from './state.ts';
import { pullRequestView } from './view.ts';
import type { LoadedPullRequest } from './view.ts';

/** Refuses a decision, in this order: archived, not open, another thread's, not diverged, busy. */
async function requireDiverged(tx: Tx, thread: ThreadRow, row: PullRequestRow): Promise<void> {
  requireOpen(thread, 'allowed');
  if (row.state !== 'open') throw notOpen();
  if (row.transferred_at !== null) throw isOthers();
  if (row.push_status !== 'diverged')
    throw new ApiError('conflict', 'The branch and the thread have not diverged: leave `take` out.');
  await requireIdle(tx, thread);
}

const answer = ({ project }: LoadedThread, changed: LoadedPullRequest) => ({
  status: 202,
  body: { ok: true, pullRequest: pullRequestView(changed) },
  scope: scopeOf(project),
});

export const syncPullRequest = write({
  name: 'pullRequests.syncPullRequest',
  summary: "Push the thread's latest source and read the provider now",
  description: 'If the pull request is not open, or its thread is archived, nothing is pushed.',
  access: { permissions: ['thread:update'] },
  capability: 'sourceControl',
  body: Body({
    take: Type.Optional(
      Enum(['branch', 'thread'], {
        description:
          "Ends a divergence while the thread is idle. `branch`: the branch's files become the thread's; `thread`: the thread's files are committed on the branch.",
      }),
    ),
  }),
  responses: { 202: Ok({ pullRequest: PullRequest }) },
  async handle(tx, call) {
    const { thread, loaded } = await lockAsked(tx, call);
    const { row } = loaded;
    const { take } = call.body;
    if (take === 'branch') requireNoHost(thread.thread, 'direct');
    if (take !== undefined) {
      await requireDiverged(tx, thread.thread, row);
      const taken = await changePullRequest(tx, loaded, {
        push_status: pushAfter(row.push_status, 'take'),
        push_reason: null,
        push_conflicts: [],
        push_take: take,
      });
      await enqueueSync(tx, row);
      return answer(thread, taken);
    }
    const isBehind = row.head_source_id !== null && thread.thread.latest_source_id !== row.head_source_id;
    const isPushed =
      (isBehind || row.push_status === 'failed') &&
      row.state === 'open' &&
      row.transferred_at === null &&
      thread.thread.archived_at === null;
    const changed = await changePullRequest(tx, loaded, {
      hints: row.hints + 1,
      ...(isPushed
        ? {
            push_status: pushAfter(row.push_status, 'queue'),
            push_error: row.push_status === 'diverged' ? row.push_error : null,
            push_attempts: 0,
            push_retry_at: null,
          }
        : {}),
    });
    await enqueueSync(tx, row);
    return answer(thread, changed);
  },
});
