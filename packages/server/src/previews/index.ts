export { stopThreadPreviews } from './change-preview.ts';
export { previewDied, workPreview } from './preview-work.job.ts';
export { reconcilePreviews } from './reconcile.ts';
export { purgePreviews, unlistPreviews } from './store.ts';
