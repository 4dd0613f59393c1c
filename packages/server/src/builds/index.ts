export { workBuilds } from './build-work.job.ts';
export { cancelAppBuilds, cancelThreadBuild } from './cancel-open-build.ts';
export { reconcileBuilds } from './reconcile.ts';
export { purgeBuilds, unlistBuilds } from './store.ts';
