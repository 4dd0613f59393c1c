/** Real histories by Headrace and by git; and that a wrong merge among them is found. */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../harness/random.ts';
import { sha256 } from '../../../packages/server/src/merge/merge.fixture.ts';
import { mergeTrees } from '../../../packages/server/src/merge/merge-trees.ts';
import type { MergeInput } from '../../../packages/server/src/merge/merge-trees.ts';
import { replay } from './replay.ts';
import type { ReplayReport, ReplayedMerge } from './replay.ts';
import { dropHunk } from './drop-hunk.ts';
import { sameEntry } from '../../../packages/server/src/trees/tree.ts';
import type { Merge, Sides } from '../../../packages/server/src/merge/types.ts';
import type { Entry } from '../../../packages/server/src/trees/tree.ts';

const bundle = (name: string): string => join(import.meta.dirname, `../../harness/histories/${name}.bundle`);
const SEED = Number(process.env['HEADRACE_REPLAY_SEED'] ?? 1);
const DRAWN = Number(process.env['HEADRACE_REPLAY_DRAWN'] ?? 30);

describe('real histories', () => {
  test.each([
    ['spinnaker', 376],
    ['desk', 35],
    ['storable', 19],
  ])('all merges of %s and drawn ones are merged as git does', { timeout: 120_000 }, async (name, merges) => {
    const report = await replay({
      repository: bundle(name),
      reverts: DRAWN,
      below: createRandom(SEED).fork(name).below,
    });
    expect(report.differences, `seed ${SEED}`).toEqual([]);
    const { merge, revert, pick, distant } = report.merges;
    expect([merge, revert, pick, distant].map((m) => m.replayed)).toEqual([merges, DRAWN, DRAWN, DRAWN]);
    for (const drawn of [revert, pick, distant])
      expect(Math.min(drawn.clean, drawn.conflicted)).toBeGreaterThan(0);
    expect(report.milliseconds).toHaveLength(merges + 3 * DRAWN);
  });
});

/** A wrong merge and the path that it is wrong at; undefined where it cannot be spoiled so. */
type Spoiled = { merge: Merge; path: string | null } | undefined;
type Spoil = (merge: Merge, input: MergeInput) => Spoiled | Promise<Spoiled>;

/** The merge with another entry, or none, at one path. */
const withEntry = (merge: Merge, path: string, entry: Entry | null): Merge => ({
  ...merge,
  changes: [...merge.changes.filter(([p]) => p !== path), [path, entry]],
});
const without = (merge: Merge, path: string): Merge => ({
  ...merge,
  changes: merge.changes.filter(([p]) => p !== path),
});

/**
 * In a file that was merged from lines of both sides, what the other side than `kept` did first is dropped.
 */
const dropFrom =
  (kept: 'head' | 'draft'): Spoil =>
  async (merge, input) => {
    const [path, entry] =
      merge.changes.find(
        ([path, entry]) => entry && merge.newBlobs.has(entry.sha256) && input[kept].has(path),
      ) ?? [];
    if (merge.status !== 'clean' || !path || !entry) return undefined;
    const side = input[kept].get(path)!.sha256;
    const bytes = Buffer.from(
      dropHunk(
        merge.newBlobs.get(entry.sha256)!.toString(),
        (await input.readBlobs([side])).get(side)!.toString(),
      ),
    );
    const hash = sha256(bytes);
    return {
      path,
      merge: {
        ...withEntry(merge, path, { ...entry, sha256: hash, byteSize: bytes.length }),
        newBlobs: new Map([...merge.newBlobs, [hash, bytes]]),
      },
    };
  };

/** What is spoiled, what is found in consequence, and how. */
const PLANTS: [name: string, found: string[], Spoil][] = [
  ['a hunk of the draft is dropped', ['content'], dropFrom('head')],
  ['a hunk of the head is dropped', ['content'], dropFrom('draft')],
  [
    'a file that the draft added is dropped',
    ['missing'],
    (merge, { head }) => {
      const [path] = merge.changes.find(([path, entry]) => entry && !head.has(path)) ?? [];
      return merge.status === 'clean' && path ? { path, merge: without(merge, path) } : undefined;
    },
  ],
  [
    'a file that the draft deleted stays',
    ['extra'],
    (merge) => {
      const [path] = merge.changes.find(([, entry]) => !entry) ?? [];
      return merge.status === 'clean' && path ? { path, merge: without(merge, path) } : undefined;
    },
  ],
  [
    'an untouched file is lost',
    ['missing'],
    (merge, { head }) => {
      const path = [...head.keys()].find((path) => !merge.touched.includes(path));
      return path ? { path, merge: withEntry(merge, path, null) } : undefined;
    },
  ],
  [
    'an executable bit is lost',
    ['mode'],
    (merge, { head }) => {
      const [path, entry] =
        [...head].find(
          ([path, entry]) =>
            entry.executable &&
            !merge.conflicts.some((c) => c.path === path) &&
            !merge.changes.some(([p]) => p === path),
        ) ?? [];
      return path && entry
        ? { path, merge: withEntry(merge, path, { ...entry, executable: false }) }
        : undefined;
    },
  ],
  [
    "the draft's older file replaces the head's edit",
    ['content'],
    (merge, { base, head, draft }) => {
      const [path] =
        [...head].find(
          ([path, entry]) =>
            base.has(path) &&
            draft.has(path) &&
            !sameEntry(base.get(path), entry) &&
            sameEntry(base.get(path), draft.get(path)),
        ) ?? [];
      return merge.status === 'clean' && path
        ? { path, merge: withEntry(merge, path, draft.get(path)!) }
        : undefined;
    },
  ],
  [
    'a conflict is not named',
    ['content', 'unnamed conflict'],
    (merge) => {
      const [lost, ...conflicts] = merge.conflicts;
      return lost ? { path: lost.path, merge: { ...merge, conflicts } } : undefined;
    },
  ],
  [
    'a file is in conflict without a reason',
    ['conflict without reason', 'verdict'],
    (merge, { base, head, draft }) => {
      const path = merge.touched.find((path) => head.has(path) && draft.has(path));
      const sha = (side: Sides['base']): string => side.get(path!)?.sha256 ?? '';
      return merge.status === 'clean' && path
        ? {
            path,
            merge: {
              ...merge,
              status: 'conflicted',
              conflicts: [{ path, kind: 'content', base: sha(base), head: sha(head), draft: sha(draft) }],
            },
          }
        : undefined;
    },
  ],
  [
    'the old name of a moved file is not named',
    ['extra', 'unnamed conflict'],
    (merge, { base, head, draft }) => {
      const lost = merge.conflicts.find(
        ({ kind, path }) => kind === 'rename' && base.has(path) && head.has(path) !== draft.has(path),
      );
      return lost
        ? { path: lost.path, merge: { ...merge, conflicts: merge.conflicts.filter((c) => c !== lost) } }
        : undefined;
    },
  ],
  [
    'a file is said to have moved that has not',
    ['conflict without reason'],
    (merge, { base, head, draft }) => {
      const named = new Set(merge.conflicts.map((c) => c.path));
      const path = merge.touched.find(
        (path) => !named.has(path) && base.has(path) && head.has(path) && draft.has(path),
      );
      return merge.status === 'conflicted' && path
        ? {
            path,
            merge: {
              ...merge,
              conflicts: [...merge.conflicts, { path, kind: 'rename', base: '', head: '', draft: '' }],
            },
          }
        : undefined;
    },
  ],
  [
    'a conflict is called clean',
    ['verdict'],
    (merge) =>
      merge.status === 'conflicted' ? { path: null, merge: { ...merge, status: 'clean' } } : undefined,
  ],
  [
    'a conflict cannot be resolved',
    ['resolution'],
    (merge, { head, draft }) => {
      const lost = merge.conflicts.find(({ path }) => !sameEntry(head.get(path), draft.get(path)));
      return lost
        ? {
            path: lost.path,
            merge: { ...merge, touched: merge.touched.filter((path) => path !== lost.path) },
          }
        : undefined;
    },
  ],
  [
    'a content is not what its hash says',
    ['content', 'corrupt content'],
    (merge) => {
      const [hash] = merge.newBlobs.keys();
      return hash
        ? {
            path: null,
            merge: { ...merge, newBlobs: new Map([...merge.newBlobs, [hash, Buffer.from('x')]]) },
          }
        : undefined;
    },
  ],
];

interface Planted {
  merge: ReplayedMerge;
  path: string | null;
}

describe('a wrong merge among right ones', () => {
  const planted = new Map<string, Planted>();
  let report: ReplayReport;

  /** Every plant goes into the first merge that can be spoiled so and is not yet. */
  async function mergeWrongly(input: MergeInput, about: ReplayedMerge): Promise<Merge> {
    const right = await mergeTrees(input);
    for (const [name, , spoil] of PLANTS) {
      const wrong = planted.has(name) ? undefined : await spoil(right, input);
      if (!wrong) continue;
      planted.set(name, { merge: about, path: wrong.path });
      return wrong.merge;
    }
    return right;
  }

  beforeAll(async () => {
    report = await replay({
      repository: bundle('desk'),
      reverts: 60,
      below: createRandom(1).below,
      merge: mergeWrongly,
    });
  }, 120_000);

  test.each(PLANTS)('%s: found, by commit and path', (name, whats) => {
    const { merge, path } = planted.get(name)!;
    const found = report.differences.filter((d) => d.merge === merge);
    expect(found.map((d) => d.what).sort()).toEqual(whats);
    expect(found.map((d) => d.path)).toContain(path);
  });

  test('no other merge is reported', () => {
    const merges = new Set([...planted.values()].map((p) => p.merge));
    expect(new Set(report.differences.map((d) => d.merge))).toEqual(merges);
    expect(merges.size).toBe(PLANTS.length);
  });

  test('contents are told from the first line that differs', () => {
    const { merge, path } = planted.get('a hunk of the draft is dropped')!;
    const [found] = report.differences.filter((d) => d.merge === merge);
    expect(found).toMatchObject({
      path,
      git: expect.stringMatching(/^line \d+: /),
      headrace: expect.stringMatching(/^line \d+: /),
    });
    expect(found!.git).not.toBe(found!.headrace);
  });
});
