export { headNotInitialized, loadProject, lockProject, scopeOf } from './policy.ts';
export { moveBoundHead, moveHead } from './move-head.ts';
export { Metadata } from './schemas.ts';
export {
  isInHeadHistory,
  markProjectDeleted,
  markProjectEmptied,
  markProjectsPurged,
  nextApplySequence,
  purgeHeadHistory,
  setProjectSettings,
} from './store.ts';
