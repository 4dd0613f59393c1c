/** What other domains may use of the keeping in step. */
import type { Effects } from '../receipts/outside.ts';
import { merging } from './merge-pull-request.ts';
import { creating } from './create.ts';
import { patching } from './patch-pull-request.ts';

export { hasUnpushed } from './branch-facts.ts';
export { askLater } from './ask-later.ts';
export { commentOnIssue } from './comment.job.ts';
export { lookAtPullRequests, pollPullRequests } from './due.ts';
export { followBase } from './follow-base.job.ts';
export { lockBoth } from './lock.ts';
export { merging } from './merge-pull-request.ts';
export { decideOpening, decideRecord } from './decide-opening.ts';
export { opening } from './open-pull-request.ts';
export type { Opening } from './open-pull-request.ts';
export { creating } from './create.ts';
export type { Creating } from './create.ts';
export { anotherIsOpen, hold, isHeld, isOthers, loadPullRequest, lockAsked, notOpen } from './policy.ts';
export { see } from './see.ts';
export { patching } from './patch-pull-request.ts';
export { syncPullRequest } from './sync-pull-request.job.ts';
export { takeIssueTitle } from './title.job.ts';
export type { Looked, LoopDriver } from './syncing.ts';
export { reconcileUpdates } from './update/reconcile-updates.ts';
export { repairs as updateRepairs } from './update/repairs.ts';

/** By the operations that have them. */
export const pullRequestEffects: Effects = {
  'pullRequests.createPullRequest': creating,
  'pullRequests.updatePullRequest': patching,
  'pullRequests.mergePullRequest': merging,
};
