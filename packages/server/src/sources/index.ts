/** What other domains may use of sources. */
export { cleanUpObjects, expireRest } from './cleanup.ts';
export { gzipChunks } from './archive.ts';
export { checkTree } from './import/bundle-rules.ts';
export { readBlobs, tarOf } from './contents.ts';
export { faultsMapped, sourceFault } from './faults.ts';
export { commitStaged, insertSource } from './insert-source.ts';
export type { EncodedTree } from './insert-source.ts';
export { keepUntilTaken } from './import/kept-contents.ts';
export { DiffFile, Source } from './schemas.ts';
export { commitObject, discardObject, expireObjects, registerObject } from './objects.ts';
export { abandon, stageBlobs } from './stage.ts';
export type { Staged } from './stage.ts';
export { repackProject } from './repack/repack.job.ts';
export { reconcileRepacks } from './repack/reconcile-repacks.ts';
export { loadSource, purgeBlobs, purgePacks, purgeSources } from './store.ts';
export type { SourceRow } from './store.ts';
export { loadTree, sameTree } from './load-tree.ts';
export { sourceView } from './view.ts';
