/** Generated merges, by Headrace and by git: verdict, conflicting paths and result have to be the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCollisions } from '../../../packages/server/src/trees/paths.ts';
import { createGit } from '../../../packages/server/src/merge/git.ts';
import type { Git } from '../../../packages/server/src/merge/git.ts';
import { mergeTrees } from '../../../packages/server/src/merge/merge-trees.ts';
import type { MergeInput } from '../../../packages/server/src/merge/merge-trees.ts';
import { compareMerge } from '../replay/compare.ts';
import type { Difference, GitAnswer } from '../replay/compare.ts';
import { compareResolutions } from '../replay/resolutions.ts';
import { sameEntry } from '../../../packages/server/src/trees/tree.ts';
import type { Merge, Sides } from '../../../packages/server/src/merge/types.ts';
import { generate } from './generators.ts';
import { askReference } from './reference.ts';
import { Contents } from './triple.ts';
import type { Files, Triple } from './triple.ts';

export type Engine = (input: MergeInput) => Promise<Merge>;

export interface Failure extends Judgement {
  seed: number;
  index: number;
  triple: Triple;
}

export interface FuzzReport {
  /** By generator, as git has it. */
  merges: Record<string, Record<Verdict, number>>;
  failures: Failure[];
}

/** Of git; `aborted` where one of its assertions failed. */
export type Verdict = 'clean' | 'conflicted' | 'aborted';

interface Judgement {
  verdict: Verdict;
  differences: Difference[];
  /** What git says where there are differences: its clean result, or the paths in conflict. */
  expected?: Files | string[];
}

/** Merges `triples`, some hundreds at most, with git and with `engine`, in new folders below `scratch`. */
export type Judge = (triples: readonly Triple[]) => Promise<Judgement[]>;

interface FuzzOptions {
  seed: number;
  /** Triples `from` to `from + count - 1` of the seed. */
  from?: number;
  count: number;
  /** Ends the run between two batches. */
  signal?: AbortSignal;
  onBatch?: (report: FuzzReport) => void;
}

const BATCH = 500;
/**
 * A busy machine is no fault of the engine's: what git has not decided in the usual time would be reported as
 * a conflict.
 */
const LIMIT_MS = 120_000;
/** So many wrong merges are enough to look at. */
const MAX_FAILURES = 20;

/** Stops early when there are failures enough. */
export async function fuzzWith(
  judge: Judge,
  { seed, from = 0, count, signal, onBatch }: FuzzOptions,
): Promise<FuzzReport> {
  const report: FuzzReport = { merges: {}, failures: [] };
  for (let at = from; at < from + count && report.failures.length < MAX_FAILURES; at += BATCH) {
    signal?.throwIfAborted();
    const triples = Array.from({ length: Math.min(BATCH, from + count - at) }, (_, i) =>
      generate(seed, at + i),
    );
    const judgements = await judge(triples);
    for (const [i, judgement] of judgements.entries()) {
      const triple = triples[i]!;
      const counts = (report.merges[triple.generator] ??= { clean: 0, conflicted: 0, aborted: 0 });
      counts[judgement.verdict]++;
      if (judgement.differences.length > 0)
        report.failures.push({ seed, index: at + i, triple, ...judgement });
    }
    onBatch?.(report);
  }
  return report;
}

/**
 * All that the judge makes is gone when `work` has ended. @param scratch a folder to work in, else one in
 * the system's temporary folder.
 */
export async function withJudge<T>(
  work: (judge: Judge) => Promise<T>,
  {
    engine = mergeTrees,
    scratch = tmpdir(),
  }: { engine?: Engine | undefined; scratch?: string | undefined } = {},
): Promise<T> {
  const dir = mkdtempSync(join(scratch, 'headrace-fuzz-'));
  const git = createGit({ dir: join(dir, 'engine') });
  let batches = 0;
  try {
    return await work((triples) =>
      judgeBatch(triples, { engine, git, dir: join(dir, `reference-${batches++}.git`) }),
    );
  } finally {
    git.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function judgeBatch(
  triples: readonly Triple[],
  { engine, git, dir }: { engine: Engine; git: Git; dir: string },
): Promise<Judgement[]> {
  const reference = await askReference(triples, dir);
  try {
    const judgements: Judgement[] = [];
    for (const [i, triple] of triples.entries()) {
      const expected = reference.answers[i];
      const { objects } = reference.git;
      const differences = await differencesOf(triple, { expected, engine, git, objects });
      judgements.push({
        verdict: verdictOf(expected),
        differences,
        ...(expected && differences.length > 0 && { expected: await wordsOf(expected, objects) }),
      });
    }
    return judgements;
  } finally {
    reference.close();
  }
}

const verdictOf = (answer: GitAnswer | undefined): Verdict =>
  answer ? (answer.clean ? 'clean' : 'conflicted') : 'aborted';

/**
 * Of merges that are in conflict anyway, seen in 3 of 160,000: a file that nobody touched, which git 2.39
 * drops when a moved folder would take its place.
 */
function isHarmless({ path, what }: Difference, { base, head, draft }: Sides): boolean {
  return (
    what === 'extra' &&
    path !== null &&
    sameEntry(base.get(path), head.get(path)) &&
    sameEntry(base.get(path), draft.get(path))
  );
}

async function wordsOf(
  answer: GitAnswer,
  objects: (oids: string[]) => Promise<Buffer[]>,
): Promise<Files | string[]> {
  if (!answer.clean) return [...answer.stages.keys()];
  const files = [...answer.files];
  const contents = await objects(files.map(([, { oid }]) => oid));
  return new Map(files.map(([path, { executable }], i) => [path, { content: contents[i]!, executable }]));
}

/**
 * @param expected of the reference, whose `objects` it is in; undefined where git aborted: there only what
 * can be resolved is judged.
 */
export async function differencesOf(
  triple: Triple,
  {
    expected,
    engine,
    git,
    objects,
  }: {
    expected: GitAnswer | undefined;
    engine: Engine;
    git: Git;
    objects: (oids: string[]) => Promise<Buffer[]>;
  },
): Promise<Difference[]> {
  const contents = new Contents();
  const sides = contents.sidesOf(triple);
  try {
    git.tidy();
    const merge = await engine({ ...sides, readBlobs: contents.readBlobs, git, limitMs: LIMIT_MS });
    if (!expected) return compareResolutions(merge, sides);
    return [
      ...(
        await compareMerge(merge, expected, {
          git: { objects },
          trees: { oidOf: (sha256) => contents.oidOf(sha256) },
          sides,
        })
      ).filter((d) => expected.clean || !isHarmless(d, sides)),
      ...compareResolutions(merge, sides),
      ...unnamedCollisions(merge, expected),
      ...unexplainedNames(merge, expected, sides),
    ];
  } catch (error) {
    return [
      {
        path: null,
        what: 'error',
        git: verdictOf(expected),
        headrace: error instanceof Error ? (error.stack ?? error.message) : String(error),
      },
    ];
  }
}

/**
 * Names that git allows together and no source may have: by the rules for sources, not by the engine's own.
 */
function unnamedCollisions(merge: Merge, expected: GitAnswer): Difference[] {
  const named = new Set(merge.conflicts.map((c) => c.path));
  const paths = [...new Set([...expected.files.keys()].map(expected.made))];
  return findCollisions(paths)
    .map(({ index }) => paths[index]!)
    .filter((path) => !named.has(path))
    .map((path) => ({
      path,
      what: 'unnamed conflict',
      git: 'stands beside another name',
      headrace: 'not named',
    }));
}

/**
 * In addition to git's own paths and names that clash, only what git's messages name may be there, and the
 * path that a moved file had.
 */
function unexplainedNames(merge: Merge, expected: GitAnswer, { base, head, draft }: Sides): Difference[] {
  // Git names only a folder: something has to be named all the same.
  if (!expected.clean && expected.stages.size === 0) return [];
  const told = expected.messages
    .filter(({ type }) => type.startsWith('CONFLICT'))
    .flatMap(({ paths }) => paths);
  const isTold = (path: string): boolean =>
    told.some((other) => path === other || path.startsWith(`${other}/`));
  const isOldPath = (path: string): boolean => base.has(path) && head.has(path) !== draft.has(path);
  return merge.conflicts
    .filter(
      ({ path, kind }) => kind !== 'path' && !expected.stages.has(path) && !isTold(path) && !isOldPath(path),
    )
    .map(({ path, kind }) => ({
      path,
      what: 'conflict without reason',
      git: 'does not speak of it',
      headrace: kind,
    }));
}
