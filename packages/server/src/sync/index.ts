/** What other domains may use of the keeping in step. */
import type { Effects } from '../receipts/outside.ts';
import { merging } from './merge-pull-request.ts';
import { opening } from './open-pull-request.ts';
import { patching } from './patch-pull-request.ts';

export { commentOnIssue } from './comment.job.ts';
export { lookAtPullRequests, pollPullRequests } from './due.ts';
export { followBase } from './follow-base.job.ts';
export { merging } from './merge-pull-request.ts';
export { branchName, defaultBody, defaultTitle } from './names.ts';
export { messageOf, nextCommitMessage } from './next-commit.ts';
export { opening } from './open-pull-request.ts';
export type { Opening } from './open-pull-request.ts';
export { anotherIsOpen, hold, loadPullRequest, lockAsked, notOpen } from './policy.ts';
export { patching } from './patch-pull-request.ts';
export { syncPullRequest } from './sync-pull-request.job.ts';

/** By the operations that have them. */
export const pullRequestEffects: Effects = {
  'pullRequests.createPullRequest': opening,
  'pullRequests.updatePullRequest': patching,
  'pullRequests.mergePullRequest': merging,
};
