export { stopAppPreviews, stopThreadPreviews } from './change-preview.ts';
export { previewDied, workPreview } from './preview-work.job.ts';
export { reconcilePreviews } from './reconcile.ts';
export { purgeAppPreviews, purgePreviews, unlistPreviews } from './store.ts';
