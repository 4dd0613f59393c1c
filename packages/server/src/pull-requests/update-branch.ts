import Type from 'typebox';
import { requireNoHost } from '../hosts/index.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Enum, Ok } from '../http/schemas.ts';
import { requireWorker } from '../processes/index.ts';
import { scopeOf } from '../projects/index.ts';
import { isOthers, lockAsked, notOpen } from '../sync/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import type { Tx } from '../db/transaction.ts';
import { requireIdle, requireOpen } from '../threads/index.ts';
import { changePullRequest } from './change-pull-request.ts';
import { enqueueSync } from './enqueue-sync.ts';
import { PullRequest } from './schemas.ts';
import { updateBegun } from './update-begun.ts';
import { pullRequestView } from './view.ts';
import type { LoadedPullRequest } from './view.ts';

/** Refuses, in this order: archived, not open, another thread's, busy, diverged, an update is under way. */
async function requireUpdatable(tx: Tx, { thread }: LoadedThread, { row }: LoadedPullRequest): Promise<void> {
  requireOpen(thread, 'allowed');
  if (row.state !== 'open') throw notOpen();
  if (row.transferred_at !== null) throw isOthers();
  await requireIdle(tx, thread);
  if (row.push_status === 'diverged')
    throw new ApiError(
      'conflict',
      'The branch and the thread have diverged. Choose first whose files to keep: POST …/sync with `take`.',
    );
  if (row.branch_update?.status === 'running')
    throw new ApiError('conflict', 'An update from the base is under way. Wait for it to end.');
}

export const updateBranch = write({
  name: 'pullRequests.updateBranch',
  summary: 'Bring the base branch into a pull request',
  description:
    "Merges the base's newest commit with the thread's latest source, and pushes the result as a merge. `agent`: conflicts are repaired by one run of the thread's agent.",
  access: { permissions: ['thread:update'] },
  capability: 'sourceControl',
  body: Body({
    conflictResolution: Type.Optional(Enum(['agent', 'manual'], { description: 'Default: `agent`.' })),
  }),
  responses: { 202: Ok({ pullRequest: PullRequest }) },
  async handle(tx, call) {
    const { thread, loaded } = await lockAsked(tx, call);
    requireNoHost(thread.thread, 'direct');
    await requireUpdatable(tx, thread, loaded);
    await requireWorker(call.ctx, tx.db);
    const changed = await changePullRequest(
      tx,
      loaded,
      updateBegun(call.principal.actorId, call.body.conflictResolution),
    );
    await enqueueSync(tx, changed.row);
    return {
      status: 202,
      body: { ok: true, pullRequest: pullRequestView(changed) },
      scope: scopeOf(thread.project),
    };
  },
});
