/** Setups, and the layers that sandboxes have of them. */
export { endSetupsOf } from './end-setup.ts';
export { setupLogFile } from './log-file.ts';
export { isLayerGone, setupOrWait } from './need-setup.ts';
export type { SetupFound, SourceOf } from './need-setup.ts';
export { reconcileSetups } from './reconcile.ts';
export { workSetup } from './setup-work.job.ts';
export { loseLayer, purgeSetups } from './store.ts';
