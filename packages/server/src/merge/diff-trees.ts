import { isUtf8 } from 'node:buffer';
import { comparePaths } from '../trees/paths.ts';
import { parseDiffAnswer } from './diff-answer.ts';
import type { DiffAnswer } from './diff-answer.ts';
import { coarseCounts } from './coarse-counts.ts';
import { GitFailure } from './git-process.ts';
import type { DiffHow, Git } from './git.ts';
import { writeTree } from './git-trees.ts';
import type { GitFile } from './git-trees.ts';
import { storedFirst } from './stored-first.ts';
import { sameEntry } from '../trees/tree.ts';
import type { DiffFile, DiffParts, ReadBlobs } from './types.ts';
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

interface DiffInput extends DiffParts {
  from: Tree;
  to: Tree;
  readBlobs: ReadBlobs;
  git: Git;
}

/** One question to git: these paths of both trees. */
interface Comparison {
  paths: string[];
  renames: DiffHow['renames'];
}

/**
 * What changed from one tree to the other, as git reports it: renames from 50% similarity on, copies as
 * additions, whole git patches. Only changed contents are read. Patches stop at 8 MiB in all: a file whose
 * patch is left out is `truncated`. Sorted by path bytes.
 */
export async function diffTrees(input: DiffInput): Promise<DiffFile[]> {
  const { from, to, paths } = input;
  for (const [i, { maxLines, renames }] of ATTEMPTS.entries()) {
    try {
      const comparisons = paths
        ? await comparisonsOf(new Set(paths), renames, input)
        : [{ paths: changedPaths(from, to), renames }];
      return await compare(comparisons, maxLines, input);
    } catch (error) {
      if (!(error instanceof GitFailure) || !error.timedOut || i === ATTEMPTS.length - 1) throw error;
    }
  }
  return [];
}

/**
 * Compares a moved file separately: among fewer files, git might pair it differently than in the whole difference.
 */
async function comparisonsOf(
  asked: ReadonlySet<string>,
  renames: DiffHow['renames'],
  input: DiffInput,
): Promise<Comparison[]> {
  const { from, to } = input;
  const paths = new Set([...asked].filter((path) => !sameEntry(from.get(path), to.get(path))));
  const isMoved = ({ path, oldPath }: DiffAnswer) => paths.has(path) || paths.has(oldPath!);
  const moves = [...paths].every((path) => from.has(path) && to.has(path))
    ? []
    : (await findMoves(renames, input)).filter(isMoved);
  for (const { path, oldPath } of moves) for (const one of [path, oldPath!]) paths.delete(one);
  return [
    ...(paths.size > 0 ? [{ paths: [...paths], renames: 'none' as const }] : []),
    ...moves.map(({ path, oldPath }): Comparison => ({ paths: [oldPath!, path], renames: 'similar' })),
  ];
}

/** The files that only one of the trees has: the only ones that git considers as renames. */
async function findMoves(renames: DiffHow['renames'], input: DiffInput): Promise<DiffAnswer[]> {
  const { from, to, git } = input;
  const lone = changedPaths(from, to).filter((path) => !from.has(path) || !to.has(path));
  if (lone.every((path) => from.has(path)) || lone.every((path) => to.has(path))) return [];
  await provide(lone, input);
  const [before, after] = [from, to].map((tree) => treeOf(git, tree, lone, new Set()));
  const answer = await git.diffTree(before!, after!, DIFF_LIMIT_MS, { renames, show: 'names' });
  return parseDiffAnswer(answer, 'names').filter(({ oldPath }) => oldPath !== undefined);
}

/** Asks git for everything, within the limit of one question. */
async function compare(
  comparisons: readonly Comparison[],
  maxLines: number,
  input: DiffInput,
): Promise<DiffFile[]> {
  const { from, to, git, patches = true } = input;
  const paths = comparisons.flatMap((one) => one.paths);
  if (paths.length === 0) return [];
  await provide(paths, input);
  const coarse = new Set(paths.filter((path) => isLong(git, from.get(path), to.get(path), maxLines)));
  // Before the first question, so that everything is written as one pack.
  const questions = comparisons.map((one) => ({
    before: treeOf(git, from, one.paths, coarse),
    after: treeOf(git, to, one.paths, coarse),
    renames: one.renames,
  }));
  const deadline = performance.now() + DIFF_LIMIT_MS;
  const answers: DiffAnswer[] = [];
  for (const { before, after, renames } of questions) {
    const how: DiffHow = { renames, show: patches ? 'patches' : 'counts' };
    const leftMs = Math.max(1, deadline - performance.now());
    answers.push(...parseDiffAnswer(await git.diffTree(before, after, leftMs, how), how.show));
  }
  return describeAll(
    answers.sort((a, b) => comparePaths(a.path, b.path)),
    coarse,
    input,
  );
}

function changedPaths(from: Tree, to: Tree): string[] {
  const paths = [...from.keys()].filter((path) => !sameEntry(from.get(path), to.get(path)));
  for (const path of to.keys()) if (!from.has(path)) paths.push(path);
  return paths;
}

async function provide(paths: string[], { from, to, git, readBlobs }: DiffInput): Promise<void> {
  const shas = paths.flatMap((path) => [from.get(path), to.get(path)]).flatMap((e) => (e ? [e.sha256] : []));
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
  { from, to, readBlobs, git, patches = true }: DiffInput,
): Promise<DiffFile[]> {
  const files: DiffFile[] = [];
  let left = MAX_PATCH_BYTES;
  for (const found of answer) {
    const file = describe(found);
    const patch = patchOf(found);
    if (coarse.has(found.path)) {
      const [a, b] = [from.get(found.path)!.sha256, to.get(found.path)!.sha256];
      const blobs = await storedFirst(git.store, readBlobs)([a, b]);
      files.push({
        ...file,
        binary: false,
        ...coarseCounts(blobs.get(a)!, blobs.get(b)!),
        ...(patches && { truncated: true }),
      });
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
