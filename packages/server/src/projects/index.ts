export { headNotInitialized, loadProject, scopeOf } from './policy.ts';
export { moveHead } from './move-head.ts';
export { Metadata } from './schemas.ts';
export { isInHeadHistory, markProjectDeleted, nextApplySequence, setProjectSettings } from './store.ts';
