import { isUtf8 } from 'node:buffer';
import { comparePaths } from '../trees/paths.ts';
import { parseDiffAnswer } from './diff-answer.ts';
import type { DiffAnswer } from './diff-answer.ts';
import { coarseCounts } from './coarse-counts.ts';
import { GitFailure } from './git-process.ts';
import type { Git } from './git.ts';
import { writeTree } from './git-trees.ts';
import type { GitFile } from './git-trees.ts';
import { storedFirst } from './stored-first.ts';
import { sameEntry } from '../trees/tree.ts';
import type { DiffFile, ReadBlobs } from './types.ts';
import type { Entry, Tree } from '../trees/tree.ts';

const MAX_PATCH_BYTES = 8 * 1024 * 1024;
const DIFF_LIMIT_MS = 8000;
/**
 * The question to git, and easier ones when it was not ready in time. A line diff of 190,000 random lines
 * takes 6 s, of a million it never ends: a changed file with more than `maxLines` has no patch, and its
 * counts come from the lines between its equal first and last ones. Finding 1,000 moved files of 1,500 lines
 * that share nothing with 1,000 others takes 12 s, which `identical` renames avoid.
 */
const ATTEMPTS = [
  { maxLines: 200_000, renames: 'similar' },
  { maxLines: 5000, renames: 'identical' },
  { maxLines: 0, renames: 'identical' },
] as const;
const STATUS: Record<string, DiffFile['status']> = {
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  M: 'modified',
  T: 'modified',
};

interface DiffInput {
  from: Tree;
  to: Tree;
  readBlobs: ReadBlobs;
  git: Git;
}

/**
 * What changed from one tree to the other, as git reports it: renames from 50% similarity on, copies as
 * additions, whole git patches. Only changed contents are read. Patches stop at 8 MiB in all: a file whose
 * patch is left out is `truncated`. Sorted by path bytes.
 */
export async function diffTrees(input: DiffInput): Promise<DiffFile[]> {
  const { from, to, git } = input;
  const paths = changedPaths(from, to);
  if (paths.length === 0) return [];
  await provide(
    paths.flatMap((p) => [from.get(p), to.get(p)]).flatMap((e) => (e ? [e.sha256] : [])),
    input,
  );
  for (const [i, { maxLines, renames }] of ATTEMPTS.entries()) {
    const coarse = new Set(paths.filter((path) => isLong(git, from.get(path), to.get(path), maxLines)));
    try {
      const answer = parseDiffAnswer(
        await git.diffTree(
          treeOf(git, from, paths, coarse),
          treeOf(git, to, paths, coarse),
          DIFF_LIMIT_MS,
          renames,
        ),
      );
      return await describeAll(
        answer.sort((a, b) => comparePaths(a.path, b.path)),
        coarse,
        input,
      );
    } catch (error) {
      if (!(error instanceof GitFailure) || !error.timedOut || i === ATTEMPTS.length - 1) throw error;
    }
  }
  return [];
}

function changedPaths(from: Tree, to: Tree): string[] {
  const paths = [...from.keys()].filter((path) => !sameEntry(from.get(path), to.get(path)));
  for (const path of to.keys()) if (!from.has(path)) paths.push(path);
  return paths;
}

async function provide(shas: string[], { git, readBlobs }: DiffInput): Promise<void> {
  const missing = [...new Set(shas)].filter((sha256) => !git.store.blob(sha256));
  if (missing.length === 0) return;
  const blobs = await readBlobs(missing);
  for (const sha256 of missing) git.store.writeBlob(sha256, blobs.get(sha256)!);
}

function isLong(git: Git, from: Entry | undefined, to: Entry | undefined, maxLines: number): boolean {
  if (!from || !to || from.sha256 === to.sha256) return false;
  const [a, b] = [git.store.blob(from.sha256)!, git.store.blob(to.sha256)!];
  return !a.binary && !b.binary && Math.max(a.lines, b.lines) > maxLines;
}

/** The changed files of one side; of long texts a stand-in that git takes for binary. */
function treeOf(git: Git, tree: Tree, paths: string[], coarse: Set<string>): string {
  return writeTree(
    git.store,
    paths.flatMap((path): [string, GitFile][] => {
      const entry = tree.get(path);
      if (!entry) return [];
      const oid = coarse.has(path)
        ? git.store.write('blob', Buffer.from(`\0${entry.sha256}`))
        : git.store.blob(entry.sha256)!.oid;
      return [[path, { oid, executable: entry.executable }]];
    }),
    new Map(),
  );
}

async function describeAll(
  answer: DiffAnswer[],
  coarse: Set<string>,
  { from, to, readBlobs, git }: DiffInput,
): Promise<DiffFile[]> {
  const files: DiffFile[] = [];
  let left = MAX_PATCH_BYTES;
  for (const found of answer) {
    const file = describe(found);
    const patch = patchOf(found);
    if (coarse.has(found.path)) {
      const [a, b] = [from.get(found.path)!.sha256, to.get(found.path)!.sha256];
      const blobs = await storedFirst(git.store, readBlobs)([a, b]);
      files.push({ ...file, binary: false, ...coarseCounts(blobs.get(a)!, blobs.get(b)!), truncated: true });
    } else if (patch === undefined) {
      files.push(file);
    } else if (patch.length > left || !isUtf8(patch)) {
      // A patch whose text is not UTF-8 would not survive JSON: better none than one that does not apply.
      files.push({ ...file, truncated: true });
    } else {
      left -= patch.length;
      files.push({ ...file, patch: patch.toString('utf8') });
    }
  }
  return files;
}

function describe({
  path,
  oldPath,
  status,
  oldMode,
  newMode,
  oldOid,
  newOid,
  binary,
  additions,
  deletions,
}: DiffAnswer): DiffFile {
  const onlyMode = status === 'M' && oldOid === newOid && oldMode !== newMode;
  return {
    path,
    ...(oldPath !== undefined && { oldPath }),
    status: onlyMode ? 'mode' : (STATUS[status] ?? 'modified'),
    binary,
    additions,
    deletions,
  };
}

function patchOf({ binary, patch }: DiffAnswer): Buffer | undefined {
  return binary || !patch.includes('\n@@ ') ? undefined : patch;
}
