/**
 * Merges of a repository's own history, by Headrace and by git: verdict, conflicting paths and result have
 * to be the same.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGit } from '../../../packages/server/src/merge/git.ts';
import type { Git } from '../../../packages/server/src/merge/git.ts';
import { mergeTrees } from '../../../packages/server/src/merge/merge-trees.ts';
import type { MergeInput } from '../../../packages/server/src/merge/merge-trees.ts';
import { commitSketches } from './commits.ts';
import { askGit, compareMerge } from './compare.ts';
import type { Difference } from './compare.ts';
import { openReplayGit } from './git.ts';
import type { ReplayGit } from './git.ts';
import { compareNames } from './names.ts';
import { parseHistory, realMerges, sampleTriples } from './history.ts';
import type { History, Skipped, Triple } from './history.ts';
import { compareResolutions } from './resolutions.ts';
import { createReplayTrees, leftOutOf } from './trees.ts';
import type { LeftOut, Listings, ReplayTrees } from './trees.ts';
import type { Merge } from '../../../packages/server/src/merge/types.ts';

/** A merge by the ids of its commits. */
export interface ReplayedMerge {
  kind: Triple['kind'];
  commit: string;
  base: string;
  head: string;
  draft: string;
}

export interface ReplayOptions {
  /** A folder, a bundle or what else git can clone. */
  repository: string;
  /** So many reverts, picks and distant merges each, in addition to the real merges. */
  reverts?: number;
  /** Draws a whole number from 0 up to, not including, its argument. Needed for drawn merges. */
  below?: (end: number) => number;
  /** What is checked. */
  merge?: (input: MergeInput, about: ReplayedMerge) => Promise<Merge>;
  onProgress?: (done: number, all: number) => void;
  /** Ends the replay with the signal's reason, after the merge under way. */
  signal?: AbortSignal;
}

export interface ReplayReport {
  repository: string;
  commits: number;
  merges: Record<Triple['kind'], { replayed: number; clean: number; conflicted: number }>;
  skipped: Skipped;
  /** Paths that no source may have, in all sides of all merges together. */
  leftOut: { symlink: number; submodule: number; name: number };
  differences: (Difference & { merge: ReplayedMerge })[];
  /** Wall time of each merge in this process, in the order of the merges. */
  milliseconds: number[];
}

interface Prepared {
  about: ReplayedMerge;
  /** What git merges. */
  commits: { head: string; draft: string };
  trees: [base: string, head: string, draft: string];
  leftOut: LeftOut;
}

/** Clones the repository into a temporary folder and merges there. Throws when git cannot read it. */
export async function replay(options: ReplayOptions): Promise<ReplayReport> {
  const scratch = mkdtempSync(join(tmpdir(), 'headrace-replay-'));
  const ends: (() => void)[] = [() => rmSync(scratch, { recursive: true, force: true })];
  try {
    const real = await openReplayGit(options.repository, join(scratch, 'repository.git'));
    ends.push(() => real.close());
    const git = createGit({ dir: join(scratch, 'engine') });
    ends.push(() => git.close());
    return await replayHistory({ real, git, trees: createReplayTrees(real), scratch, options });
  } finally {
    for (const end of ends.toReversed()) end();
  }
}

interface Run {
  /** The repository's own git. */
  real: ReplayGit;
  /** The engine's. */
  git: Git;
  trees: ReplayTrees;
  scratch: string;
  options: ReplayOptions;
}

async function replayHistory(run: Run): Promise<ReplayReport> {
  const { real, options } = run;
  const history = parseHistory(
    (
      await real.run(['log', '--exclude=refs/replay/*', '--all', '--topo-order', '--format=%H %T %P'])
    ).toString(),
  );
  const { triples, skipped } = realMerges(history);
  if (options.reverts && options.below)
    triples.push(...sampleTriples(history, options.reverts, options.below));
  const report: ReplayReport = {
    repository: options.repository,
    commits: history.commits.length,
    skipped,
    leftOut: { symlink: 0, submodule: 0, name: 0 },
    differences: [],
    milliseconds: [],
    merges: { merge: none(), revert: none(), pick: none(), distant: none() },
  };
  const prepared = await prepare(run, history, triples);
  for (const [i, one] of prepared.entries()) {
    options.signal?.throwIfAborted();
    await replayOne(run, one, report);
    options.onProgress?.(i + 1, prepared.length);
  }
  return report;
}

const none = (): ReplayReport['merges']['merge'] => ({ replayed: 0, clean: 0, conflicted: 0 });

/** Real merges with nothing to leave out are git's as they are; all others get new commits. */
async function prepare(
  { real, trees, scratch }: Run,
  { commits }: History,
  triples: Triple[],
): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  for (const { kind, ...places } of triples) {
    const [commit, base, head, draft] = [places.commit, places.base, places.head, places.draft].map(
      (place) => commits[place]!,
    );
    const about = { kind, commit: commit!.oid, base: base!.oid, head: head!.oid, draft: draft!.oid };
    const sides: Prepared['trees'] = [base!.tree, head!.tree, draft!.tree];
    prepared.push({
      about,
      commits: { head: about.head, draft: about.draft },
      trees: sides,
      leftOut: leftOutOf(await listingsOf(trees, sides)),
    });
  }
  const sketched = prepared.filter(({ about, leftOut }) => about.kind !== 'merge' || leftOut.size > 0);
  const made = await commitSketches(real, sketched, scratch);
  sketched.forEach((one, i) => {
    one.commits = made[i]!;
  });
  return prepared;
}

async function replayOne(
  { real, git, trees, options }: Run,
  { about, commits, trees: sideTrees, leftOut }: Prepared,
  report: ReplayReport,
): Promise<void> {
  const tell = (differences: Difference[]): void => {
    report.differences.push(...differences.map((difference) => ({ ...difference, merge: about })));
  };
  const sides = await trees.sidesOf(await listingsOf(trees, sideTrees), leftOut);
  for (const reason of leftOut.values()) report.leftOut[reason]++;
  const expected = await askGit(real, trees, commits);
  if (!expected) {
    report.skipped.aborted++;
    return;
  }
  const counts = report.merges[about.kind];
  counts.replayed++;
  counts[expected.clean ? 'clean' : 'conflicted']++;
  try {
    git.tidy();
    const merge = await timed(report.milliseconds, () =>
      (options.merge ?? mergeTrees)({ ...sides, readBlobs: trees.readBlobs, git }, about),
    );
    tell(await compareMerge(merge, expected, { git: real, trees, sides }));
    tell(await compareNames(merge, expected, { git: real, trees, sides, ids: sideTrees }));
    tell(compareResolutions(merge, sides));
  } catch (error) {
    tell([
      { path: null, what: 'error', git: expected.clean ? 'clean' : 'conflicted', headrace: String(error) },
    ]);
  }
}

async function listingsOf(trees: ReplayTrees, sides: Prepared['trees']): Promise<Listings> {
  const [base, head, draft] = sides;
  return [await trees.list(base), await trees.list(head), await trees.list(draft)];
}

async function timed<T>(milliseconds: number[], work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const result = await work();
  milliseconds.push(performance.now() - from);
  return result;
}
