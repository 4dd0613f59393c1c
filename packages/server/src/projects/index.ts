export { headNotInitialized, loadProject, scopeOf } from './policy.ts';
export { moveHead } from './move-head.ts';
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
