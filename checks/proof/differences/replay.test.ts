/** Differences of real histories: what git says of them, in patches that `git apply` takes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { diffTrees } from '../../../packages/server/src/merge/diff-trees.ts';
import { faultsOfPatches, gitDiffs, patient } from './oracle.ts';
import type { Attempt, Told } from './oracle.ts';
import { createGit } from '../../../packages/server/src/merge/git.ts';
import type { Git } from '../../../packages/server/src/merge/git.ts';
import { openReplayGit } from '../replay/git.ts';
import type { ReplayGit } from '../replay/git.ts';
import { parseHistory } from '../replay/history.ts';
import type { History } from '../replay/history.ts';
import { createReplayTrees } from '../replay/trees.ts';
import type { ReplayTrees } from '../replay/trees.ts';

const BUNDLES = fileURLToPath(new URL('../../harness/histories/', import.meta.url));
/** Of this many commits, one is compared with its parent: 1 for all of them. */
const EVERY = Number(process.env['HEADRACE_DIFF_EVERY'] ?? 3);
/** Pairs of any two commits, of each history. */
const DISTANT = Math.ceil(80 / EVERY);
/** Each history, with how many files of two of its commits differ and were moved, at least and on average. */
const APART: Record<string, { files: number; renames: number }> = {
  spinnaker: { files: 50, renames: 5 },
  desk: { files: 0.5, renames: 0 },
  storable: { files: 3, renames: 0.5 },
};

type Pair = [from: string, to: string];
const dir = mkdtempSync(join(tmpdir(), 'headrace-diff-replay-'));
const engine: Git = createGit({ dir: join(dir, 'engine') });
afterAll(() => {
  engine.close();
  rmSync(dir, { recursive: true, force: true });
});

const told = ({
  patch: _patch,
  truncated: _truncated,
  ...rest
}: Told & { patch?: string; truncated?: boolean }): Told => rest;

describe.each(Object.keys(APART))('%s', (name) => {
  let git: ReplayGit;
  let trees: ReplayTrees;
  let history: History;
  beforeAll(async () => {
    git = await openReplayGit(join(BUNDLES, `${name}.bundle`), join(dir, name));
    trees = createReplayTrees(git);
    history = parseHistory((await git.run(['log', '--topo-order', '--format=%H %T %P', 'main'])).toString());
  });
  afterAll(() => git.close());

  async function prove(pairs: Pair[]): Promise<{ files: number; renames: number }> {
    const wanted = await gitDiffs(git.run, pairs);
    const attempts: Attempt[] = [];
    for (const [i, pair] of pairs.entries()) {
      const [a, b] = [await trees.list(pair[0]), await trees.list(pair[1])];
      const { base: from, head: to } = await trees.sidesOf([a, b, b], new Map());
      engine.tidy();
      const files = await diffTrees({ from, to, readBlobs: trees.readBlobs, git: patient(engine) });
      expect(files.map(told), pair.join(' ')).toEqual(wanted[i]);
      expect(
        files.filter((f) => f.truncated),
        pair.join(' '),
      ).toEqual([]);
      attempts.push({ from, to, files });
    }
    const faults = faultsOfPatches(join(dir, name), attempts, (sha256) => trees.oidOf(sha256)!);
    expect(faults.flatMap((found, i) => (found.length > 0 ? [[pairs[i]!.join(' '), ...found]] : []))).toEqual(
      [],
    );
    const all = wanted.flat();
    return { files: all.length, renames: all.filter((f) => f.status === 'renamed').length };
  }

  test('each commit against its first parent', async () => {
    const pairs = history.commits.flatMap(({ tree, parents: [first] }, i): Pair[] =>
      first === undefined || i % EVERY > 0 ? [] : [[history.commits[first]!.tree, tree]],
    );
    const { files } = await prove(pairs);
    expect(files).toBeGreaterThan(pairs.length / 2);
  }, 300_000);

  test('commits far from each other, back and forth', async () => {
    const trees = history.commits.map((c) => c.tree);
    const at = (i: number): string => trees[(i * 7919) % trees.length]!;
    const pairs = Array.from({ length: DISTANT }, (_, i): Pair => [at(2 * i + 1), at(2 * i + 2)]);
    const { files, renames } = await prove(pairs);
    expect(files / pairs.length).toBeGreaterThan(APART[name]!.files);
    expect(renames / pairs.length).toBeGreaterThanOrEqual(APART[name]!.renames);
  }, 300_000);
});
