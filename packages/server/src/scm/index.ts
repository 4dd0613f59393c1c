export { nextLookAfterMs } from './poll-timing.ts';
export { insertLocalInstallation } from './store.ts';
