/** What other domains may use of sources. */
export type { Entry, Tree } from '../merge/types.ts';
export { startCleanup } from './cleanup.ts';
export { archiveOf, readBlob, readBlobs, tarOf } from './contents.ts';
export { faultsMapped, storageUnavailable } from './faults.ts';
export { insertSource } from './insert-source.ts';
export type { EncodedTree, NewSource } from './insert-source.ts';
export { DiffFile, Source } from './schemas.ts';
export { abandon, missingBlobs, stageBlobs } from './stage.ts';
export type { Contents, Staged } from './stage.ts';
export { routes } from './routes.ts';
export { loadSource } from './store.ts';
export type { SourceRow } from './store.ts';
export { loadTree, sameTree } from './tree.ts';
export { sourceView } from './view.ts';
