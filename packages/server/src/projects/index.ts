export { allAppsFilters, listOfAllApps, pageOf } from './all-apps.ts';
export { appFilters, listOfApp } from './one-app.ts';
export type { BoundList } from './all-apps.ts';
export {
  headNotInitialized,
  keepProject,
  loadProject,
  lockProject,
  requireUnbound,
  scopeOf,
} from './policy.ts';
export { moveBoundHead, moveHead } from './move-head.ts';
export { Branch, Metadata } from './schemas.ts';
export {
  isInHeadHistory,
  markProjectDeleted,
  markProjectEmptied,
  markProjectsPurged,
  nextApplySequence,
  nextTaskNumber,
  purgeHeadHistory,
  renameRepository,
  setProjectSettings,
} from './store.ts';
