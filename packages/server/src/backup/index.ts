/** What the command line uses of backups. */
export { backUp } from './backup.ts';
export { readManifest } from './manifest.ts';
export { restore } from './restore.ts';
