/** The changes from one list of files to another. */
import type { HashedFile } from './source-hash.ts';

/** `mode`: only the executable bit differs. A renamed file keeps its content. */
export type FileChange =
  | { status: 'added' | 'modified' | 'mode'; path: string; file: HashedFile }
  | { status: 'renamed'; path: string; oldPath: string; file: HashedFile }
  | { status: 'deleted'; path: string };

/** Renames and deletions come first, so that paths are free when they are taken. */
export function changesBetween(
  before: ReadonlyMap<string, HashedFile>,
  after: readonly HashedFile[],
): FileChange[] {
  const gone = contentsGone(before, after);
  const renamed: FileChange[] = [];
  const written: FileChange[] = [];
  for (const file of after) {
    const { path } = file;
    const old = before.get(path);
    const oldPath = old ? undefined : gone.get(file.sha256)?.shift();
    if (oldPath !== undefined) renamed.push({ status: 'renamed', path, oldPath, file });
    else if (old?.sha256 !== file.sha256) written.push({ status: old ? 'modified' : 'added', path, file });
    else if (old.executable !== file.executable) written.push({ status: 'mode', path, file });
  }
  const deleted = [...gone.values()].flat().map((path): FileChange => ({ status: 'deleted', path }));
  return [...renamed, ...deleted, ...written];
}

/** The paths that no longer exist, by content. */
function contentsGone(
  before: ReadonlyMap<string, HashedFile>,
  after: readonly HashedFile[],
): Map<string, string[]> {
  const kept = new Set(after.map(({ path }) => path));
  const gone = new Map<string, string[]>();
  for (const { path, sha256 } of before.values()) {
    if (kept.has(path)) continue;
    const paths = gone.get(sha256);
    if (paths) paths.push(path);
    else gone.set(sha256, [path]);
  }
  return gone;
}

/** The bytes of content to send. */
export function bytesOf(changes: readonly FileChange[]): number {
  let bytes = 0;
  for (const change of changes)
    if (change.status === 'added' || change.status === 'modified') bytes += change.file.byteSize;
  return bytes;
}
