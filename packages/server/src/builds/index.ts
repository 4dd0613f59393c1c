export { workBuilds } from './build-work.job.ts';
export { cancelThreadBuild } from './cancel-thread-build.ts';
export { reconcileBuilds } from './reconcile.ts';
export { purgeBuilds, unlistBuilds } from './store.ts';
