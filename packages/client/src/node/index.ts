/** `@headrace/client/node`: pushes folders as versions of an app, and pulls versions into folders. */
export { readArtifact } from './artifact.ts';
export type { ArtifactFile } from './artifact.ts';
export type { FileChange } from './changes.ts';
export { extract } from './extract.ts';
export type { ExtractOptions } from './extract.ts';
export { ChangedFilesError } from './install.ts';
export type { Installed } from './install.ts';
export { plan } from './plan.ts';
export type { Plan, PlanOptions, Progress } from './plan.ts';
export { pull, pullArtifact } from './pull.ts';
export type { PullOptions } from './pull.ts';
export { push } from './push.ts';
export type { PushedSource, PushOptions } from './push.ts';
export type { Skipped } from './scan.ts';
export { FolderChangedError } from './sending.ts';
export type { HashedFile } from './source-hash.ts';
export { ArchiveError } from './tar-reader.ts';
export type { Archive } from './tar-reader.ts';
