/**
 * Generated merges compared with git's merges of whole trees in a real repository; torture/merges runs many
 * more.
 */
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { differencesOf, fuzzWith, withJudge } from './fuzz.ts';
import type { Engine } from './fuzz.ts';
import { generate } from './generators.ts';
import { askReference } from './reference.ts';
import type { Reference } from './reference.ts';
import { rowOf } from './row.ts';
import { shrink } from './shrink.ts';
import { sha256 } from '../../../packages/server/src/merge/merge.fixture.ts';
import { createGit } from '../../../packages/server/src/merge/git.ts';
import { mergeTrees } from '../../../packages/server/src/merge/merge-trees.ts';
import type { Difference } from '../replay/compare.ts';
import { mergePath, touchedPaths } from '../../../packages/server/src/merge/three-way.ts';
import type { Conflict, Merge } from '../../../packages/server/src/merge/types.ts';
import type { Changes } from '../../../packages/server/src/trees/tree.ts';

const SEED = 1;
const MERGES = 200;
/** A planted fault is caught within so many. */
const PLANTED_MERGES = 200;

test(`${MERGES} generated merges are git's`, { timeout: 120_000 }, async () => {
  const { merges, failures } = await withJudge((judge) => fuzzWith(judge, { seed: SEED, count: MERGES }));
  expect(failures.map(rowOf).join('\n\n')).toBe('');
  const count = (verdict: 'clean' | 'conflicted'): number =>
    Object.values(merges).reduce((sum, counts) => sum + counts[verdict], 0);
  expect([count('clean') > MERGES / 4, count('conflicted') > MERGES / 4]).toEqual([true, true]);
});

const without = (merge: Merge, isGone: (c: Conflict) => boolean, changes: Changes): Merge => {
  const conflicts = merge.conflicts.filter((c) => !isGone(c));
  return { ...merge, conflicts, changes, status: conflicts.length > 0 ? 'conflicted' : 'clean' };
};

/** Other engines, and what is reported of them. */
const FAULTS: Record<string, { engine: Engine; what: Difference['what'][] }> = {
  'the head taken where both sides changed a line': {
    what: ['verdict', 'unnamed conflict'],
    async engine(input) {
      const merge = await mergeTrees(input);
      const gone = new Set(merge.conflicts.filter((c) => c.kind === 'content').map((c) => c.path));
      return without(
        merge,
        (c) => gone.has(c.path),
        merge.changes.filter(([path]) => !gone.has(path)),
      );
    },
  },
  'one of two closing braces dropped': {
    what: ['content'],
    async engine(input) {
      const merge = await mergeTrees(input);
      const fresh = new Map(
        [...merge.newBlobs].map(([old, bytes]) => [
          old,
          Buffer.from(bytes.toString('latin1').replace('}\n}\n', '}\n'), 'latin1'),
        ]),
      );
      const entry = (e: Changes[number][1]): Changes[number][1] =>
        e && fresh.has(e.sha256) ? { ...e, sha256: sha256(fresh.get(e.sha256)!) } : e;
      return {
        ...merge,
        newBlobs: new Map([...fresh.values()].map((bytes) => [sha256(bytes), bytes])),
        changes: merge.changes.map(([path, e]) => [path, entry(e)]),
      };
    },
  },
  'folders that do not move': {
    what: ['verdict', 'unnamed conflict', 'missing', 'extra'],
    engine(input) {
      appendFileSync(join(input.git.store.dir, 'config'), '[merge]\n\tdirectoryRenames = false\n');
      return mergeTrees(input);
    },
  },
  'files that do not move, nor are merged by lines': {
    what: ['verdict', 'conflict without reason'],
    async engine({ base, head, draft }) {
      const touched = touchedPaths({ base, head, draft });
      const conflicts = touched
        .filter((t) => mergePath(t) === 'contested')
        .map(({ path }): Conflict => ({ path, kind: 'content', base: null, head: null, draft: null }));
      const changes = touched.flatMap((t): Changes => {
        const entry = mergePath(t);
        return [[t.path, entry === 'contested' ? (t.draft ?? null) : (entry ?? null)]];
      });
      return {
        status: conflicts.length > 0 ? 'conflicted' : 'clean',
        changes: changes.sort(([a], [b]) => (a < b ? -1 : 1)),
        newBlobs: new Map(),
        conflicts,
        touched: touched.map((t) => t.path),
        stages: new Map(),
      };
    },
  },
  'an executable bit forgotten': {
    what: ['mode'],
    async engine(input) {
      const merge = await mergeTrees(input);
      return {
        ...merge,
        changes: merge.changes.map(([path, e]) => [path, e && { ...e, executable: false }]),
      };
    },
  },
  'names that clash let through': {
    what: ['verdict', 'unnamed conflict'],
    async engine(input) {
      const merge = await mergeTrees(input);
      return without(merge, (c) => c.kind === 'path', merge.changes);
    },
  },
  'only the first conflict named': {
    what: ['unnamed conflict'],
    async engine(input) {
      const merge = await mergeTrees(input);
      return without(merge, (c) => c !== merge.conflicts[0], merge.changes);
    },
  },
};

describe('a planted fault is caught', { timeout: 60_000 }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'headrace-fuzz-planted-'));
  const triples = Array.from({ length: PLANTED_MERGES }, (_, i) => generate(SEED, i));
  let reference: Reference;
  beforeAll(async () => {
    reference = await askReference(triples, join(dir, 'reference.git'));
  });
  afterAll(() => {
    reference.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test.each(Object.entries(FAULTS))('%s', async (name, { engine, what }) => {
    const git = createGit({ dir: join(dir, name) });
    const caught: Difference[] = [];
    for (let i = 0; i < triples.length && caught.length === 0; i++) {
      const differences = await differencesOf(triples[i]!, {
        expected: reference.answers[i],
        engine,
        git,
        objects: reference.git.objects,
      });
      caught.push(...differences.filter((d) => what.includes(d.what)));
    }
    git.close();
    expect(caught).not.toEqual([]);
  });

  test('and shrunk to a row of a few lines', async () => {
    const { engine } = FAULTS['the head taken where both sides changed a line']!;
    const row = await withJudge(
      async (judge) => {
        const {
          failures: [first],
        } = await fuzzWith(judge, { seed: SEED, count: 10 });
        const triple = await shrink(first!.triple, first!.differences[0]!.what, judge);
        const [judgement] = await judge([triple]);
        return rowOf({ ...first!, ...judgement!, triple });
      },
      { engine },
    );
    const { conflicts, ...sides } = runInNewContext(`({${row}})['…']`, {
      x: (content: string) => content,
    }) as Record<string, Record<string, string>>;
    expect(Object.keys(conflicts!)).toEqual(Object.keys(sides['head']!));
    expect(
      Object.values(sides).flatMap((files) => Object.values(files).flatMap((text) => text.split('\n')))
        .length,
    ).toBeLessThan(12);
  });
});
