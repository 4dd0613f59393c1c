import { createHash } from 'node:crypto';
import { findClashes } from '../../../packages/server/src/merge/collisions.ts';
import { GitFailure } from '../../../packages/server/src/merge/git-process.ts';
import { parseMergeAnswer, withoutMadeUpNames } from '../../../packages/server/src/merge/merge-answer.ts';
import type { MergeAnswer } from '../../../packages/server/src/merge/merge-answer.ts';
import type { ReplayGit } from './git.ts';
import type { ReplayTrees, RepositoryFile } from './trees.ts';
import type { Merge, Sides } from '../../../packages/server/src/merge/types.ts';
import { withChanges } from '../../../packages/server/src/merge/with-changes.ts';

/** Something that Headrace answers otherwise than git; `path` is null for the merge as a whole. */
export interface Difference {
  path: string | null;
  what:
    | 'verdict'
    | 'unnamed conflict'
    | 'conflict without reason'
    | 'content'
    | 'mode'
    | 'missing'
    | 'extra'
    | 'corrupt content'
    | 'resolution'
    | 'error';
  /** What git says, and what Headrace says: for contents, the lines from the first that differs. */
  git: string;
  headrace: string;
}

export interface GitAnswer extends MergeAnswer {
  files: Map<string, RepositoryFile>;
  made: (path: string) => string;
}

const EXCERPT_LINES = 6;
const EXCERPT_CHARACTERS = 400;

/** Git's merge of two commits of the repository itself; undefined where git aborts. */
export async function askGit(
  git: ReplayGit,
  trees: ReplayTrees,
  commits: { head: string; draft: string },
): Promise<GitAnswer | undefined> {
  const made = withoutMadeUpNames([commits.head, commits.draft]);
  const raw = await git.mergeTree(commits.head, commits.draft).catch((error: unknown) => {
    if (error instanceof GitFailure && error.aborted) return undefined;
    throw error;
  });
  if (!raw) return undefined;
  const answer = parseMergeAnswer(raw, made);
  return { ...answer, files: (await trees.list(answer.tree)).files, made };
}

/**
 * Verdict, conflicting paths, and id and mode of every file of the result that is not in conflict. Headrace
 * may name more than git does: the other path of a file that moved, and names that exclude each other.
 */
export async function compareMerge(
  merge: Merge,
  expected: GitAnswer,
  { git, trees, sides }: { git: Pick<ReplayGit, 'objects'>; trees: Pick<ReplayTrees, 'oidOf'>; sides: Sides },
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const add = (path: string | null, what: Difference['what'], git: string, headrace: string): void => {
    differences.push({ path, what, git, headrace });
  };
  compareConflicts(merge, expected, sides, add);

  const result = withChanges(sides.head, merge.changes);
  const named = new Set(merge.conflicts.map((c) => c.path));
  const fresh = new Map<string, string>();
  for (const [sha256, bytes] of merge.newBlobs) {
    fresh.set(sha256, blobId(bytes));
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) add(null, 'corrupt content', '', sha256);
  }
  for (const [path, file] of expected.files) {
    if (named.has(expected.made(path))) continue;
    const entry = result.get(path);
    if (!entry) {
      add(path, 'missing', await excerpt(file), '');
      continue;
    }
    const oid = fresh.get(entry.sha256) ?? trees.oidOf(entry.sha256);
    if (oid !== file.oid) add(path, 'content', ...(await excerpts(path, file.oid, entry.sha256)));
    if (entry.executable !== file.executable)
      add(path, 'mode', String(file.executable), String(entry.executable));
  }
  for (const path of result.keys())
    if (!named.has(path) && !expected.files.has(path)) add(path, 'extra', '', path);
  return differences;

  async function excerpt(file: RepositoryFile): Promise<string> {
    return shorten((await git.objects([file.oid]))[0]!.toString());
  }

  async function excerpts(path: string, oid: string, sha256: string): Promise<[string, string]> {
    const [wanted] = await git.objects([oid]);
    const known = trees.oidOf(sha256);
    const got =
      merge.newBlobs.get(sha256) ??
      (known ? (await git.objects([known]))[0]! : Buffer.from(`(no content of ${path} was given)`));
    return fromFirstDifference(wanted!.toString(), got.toString());
  }
}

function compareConflicts(
  merge: Merge,
  expected: GitAnswer,
  sides: Sides,
  add: (path: string | null, what: Difference['what'], git: string, headrace: string) => void,
): void {
  const named = new Set(merge.conflicts.map((c) => c.path));
  for (const path of expected.stages.keys())
    if (!named.has(path)) add(path, 'unnamed conflict', 'in conflict', 'not named');
  const colliding = findClashes([...expected.files.keys()].map(expected.made));
  const unexplained = merge.conflicts.filter((c) => {
    if (expected.stages.has(c.path)) return false;
    return (
      !(c.kind === 'path' && colliding.has(c.path)) &&
      !(c.kind === 'rename' && !expected.clean && (sides.head.has(c.path) || sides.draft.has(c.path)))
    );
  });
  for (const c of unexplained)
    add(c.path, 'conflict without reason', expected.clean ? 'clean' : 'not in conflict', c.kind);
  const clean = expected.clean && colliding.size === 0;
  if (clean !== (merge.status === 'clean'))
    add(null, 'verdict', clean ? 'clean' : 'conflicted', merge.status);
}

const blobId = (bytes: Buffer): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

function fromFirstDifference(wanted: string, got: string): [string, string] {
  const [a, b] = [wanted.split('\n'), got.split('\n')];
  const first = a.findIndex((line, i) => line !== b[i]);
  const from = first === -1 ? a.length : first;
  return [
    `line ${from + 1}: ${shorten(a.slice(from).join('\n'))}`,
    `line ${from + 1}: ${shorten(b.slice(from).join('\n'))}`,
  ];
}

const shorten = (text: string): string =>
  text.split('\n').slice(0, EXCERPT_LINES).join('\n').slice(0, EXCERPT_CHARACTERS);
