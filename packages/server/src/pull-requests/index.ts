/** What other domains may use of the records of pull requests. */
export { cancelPullRequestWork } from './cancel-work.ts';
export { changePullRequest, recordPullRequest } from './change-pull-request.ts';
export type { PullRequestChange } from './change-pull-request.ts';
export { endLoopsOf } from './end-loops.ts';
export { enqueueSync, enqueueSyncs, followSource } from './enqueue-sync.ts';
export { ListedPullRequest, PullRequest } from './schemas.ts';
export { loopAfterLook } from './loop-looks.ts';
export type { LoopAct, LoopLook, PassOutcome } from './loop-looks.ts';
export { loopAfter, loopAfterFault, loopAfterRefusal, newLoop } from './loop-state.ts';
export type { LoopChange } from './loop-state.ts';
export { EVENT_OF, pushAfter, stateAfter } from './state.ts';
export {
  countPullRequests,
  findByNumber,
  findOpen,
  findPullRequest,
  findPullRequestById,
  listedFrom,
  listedOf,
  lockPullRequest,
  makeDue,
  oldestFirst,
  purgePullRequests,
  takeDue,
} from './store.ts';
export type { ListedJson } from './store.ts';
export { updateBegun } from './update-begun.ts';
export { listedView, primaryOf, pullRequestView } from './view.ts';
export type { LoadedPullRequest } from './view.ts';
