import { isUtf8 } from 'node:buffer';
import { parseDiffAnswer } from './diff-answer.ts';
import type { DiffAnswer } from './diff-answer.ts';
import type { Git } from './git.ts';
import { writeTree } from './git-trees.ts';
import { comparePaths } from '../sources/paths.ts';
import { sameEntry } from './types.ts';
import type { DiffFile, ReadBlobs, Tree } from './types.ts';

const MAX_PATCH_BYTES = 8 * 1024 * 1024;
/** A diff reads up to two whole bundles; git's line diff of them has measured below 3 s. */
const DIFF_LIMIT_MS = 30_000;
const STATUS: Record<string, DiffFile['status']> = { A: 'added', D: 'deleted', R: 'renamed', M: 'modified', T: 'modified' };
const NO_HUNK = -1;

/**
 * What changed from one tree to the other, as git tells it: renames from 50% similarity on, copies as additions, whole git patches.
 * Only changed contents are read. Patches stop at 8 MiB in all: a file whose patch is left out is `truncated`. Sorted by path bytes.
 */
export async function diffTrees({ from, to, readBlobs, git }: { from: Tree; to: Tree; readBlobs: ReadBlobs; git: Git }): Promise<DiffFile[]> {
  const paths = changedPaths(from, to);
  if (paths.length === 0) return [];
  await provide(paths.flatMap((p) => [from.get(p), to.get(p)]).flatMap((e) => (e ? [e.sha256] : [])), git, readBlobs);
  const side = (tree: Tree): string => writeTree(git.store, paths.flatMap((path) => {
    const entry = tree.get(path);
    return entry ? [[path, { oid: git.store.blob(entry.sha256)!.oid, executable: entry.executable }] as const] : [];
  }), new Map());
  const answer = parseDiffAnswer(await git.diffTree(side(from), side(to), DIFF_LIMIT_MS));
  answer.sort((a, b) => comparePaths(a.path, b.path));
  let left = MAX_PATCH_BYTES;
  return answer.map((found) => {
    const file = describe(found);
    const patch = patchOf(found);
    if (patch === undefined) return file;
    // A patch whose text is not UTF-8 would not survive JSON: better none than one that does not apply.
    if (patch.length > left || !isUtf8(patch)) return { ...file, truncated: true };
    left -= patch.length;
    return { ...file, patch: patch.toString('utf8') };
  });
}

function changedPaths(from: Tree, to: Tree): string[] {
  const paths = [...from.keys()].filter((path) => !sameEntry(from.get(path), to.get(path)));
  for (const path of to.keys()) if (!from.has(path)) paths.push(path);
  return paths;
}

async function provide(shas: string[], git: Git, readBlobs: ReadBlobs): Promise<void> {
  const missing = [...new Set(shas)].filter((sha256) => !git.store.blob(sha256));
  if (missing.length === 0) return;
  const blobs = await readBlobs(missing);
  for (const sha256 of missing) git.store.writeBlob(sha256, blobs.get(sha256)!);
}

function describe({ path, oldPath, status, oldMode, newMode, oldOid, newOid, binary, additions, deletions }: DiffAnswer): DiffFile {
  const onlyMode = status === 'M' && oldOid === newOid && oldMode !== newMode;
  return { path, ...(oldPath !== undefined && { oldPath }), status: onlyMode ? 'mode' : (STATUS[status] ?? 'modified'), binary, additions, deletions };
}

function patchOf({ binary, patch }: DiffAnswer): Buffer | undefined {
  return binary || patch.indexOf('\n@@ ') === NO_HUNK ? undefined : patch;
}
