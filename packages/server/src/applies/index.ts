export { cancelApply } from './end-apply.ts';
export { mergeApplies } from './merge-apply.job.ts';
export { reconcileApplies } from './reconcile-applies.ts';
export { repairs } from './repair/repairs.ts';
export { purgeApplies, purgeCandidates, unlistApplies } from './store.ts';
