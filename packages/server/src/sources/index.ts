/** What other domains may use of sources. */
export { cleanUpObjects, expireRest, expireRestOfOrganization } from './cleanup.ts';
export { gzipChunks } from './archive.ts';
export type { SkillRequest } from './import/pool.ts';
export { decodeFiles } from './import/bundle.ts';
export type { BundleFile } from './import/bundle.ts';
export { checkTree } from './import/bundle-rules.ts';
export { readBlobs, streamBlobs, tarOf } from './contents.ts';
export { accepted, faultsMapped, sourceFault } from './faults.ts';
export { commitStaged, insertSource } from './insert-source.ts';
export type { EncodedTree } from './insert-source.ts';
export { keepUntilTaken } from './import/kept-contents.ts';
export { Changes, DiffFile, FilesInput, MessageInput, Source } from './schemas.ts';
export {
  commitObject,
  discardObject,
  discardUncommitted,
  expireObjects,
  expireOrganizationObjects,
  expireReplaced,
  registerObject,
} from './objects.ts';
export { abandon, putObject, stageBlobs, stagedTooLong } from './stage.ts';
export type { Staged } from './stage.ts';
export { stageEdit } from './stage-edit.ts';
export { repackProject } from './repack/repack.job.ts';
export { reconcileRepacks } from './repack/reconcile-repacks.ts';
export { abandonCommit, insertCommit, readCommitTree, stageCommit } from './stage-commit.ts';
export type { StagedCommit } from './stage-commit.ts';
export { findCommitSource, loadSource, purgeBlobs, purgePacks, purgeSources } from './store.ts';
export type { SourceRow } from './store.ts';
export { limitsOf } from './limits.ts';
export { loadTree, sameTree } from './load-tree.ts';
export { mergeRequest, treeOf } from './merge-request.ts';
export type { MergeSides } from './merge-request.ts';
export { sourceView } from './view.ts';
