import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Blobs, lines } from './merge.fixture.ts';
import type { Literal } from './merge.fixture.ts';
import { createGit } from './git.ts';
import { mergeTrees } from './merge-trees.ts';
import { resolveMerge } from './resolve.ts';
import { withChanges } from './with-changes.ts';
import type { Resolution } from './types.ts';

const dir = mkdtempSync(join(tmpdir(), 'headrace-resolve-'));
const git = createGit({ dir });
afterAll(() => {
  git.close();
  rmSync(dir, { recursive: true, force: true });
});

async function resolved(
  base: Literal,
  head: Literal,
  draft: Literal,
  resolutions: Record<string, 'head' | 'draft'> | Resolution[],
) {
  const blobs = new Blobs();
  const sides = { base: blobs.tree(base), head: blobs.tree(head), draft: blobs.tree(draft) };
  const merge = await mergeTrees({ ...sides, readBlobs: blobs.read, git });
  const list = Array.isArray(resolutions)
    ? resolutions
    : Object.entries(resolutions).map(([path, take]) => ({ path, take }));
  const { changes, remaining, faults } = resolveMerge(merge, sides, list);
  const files = Object.fromEntries(
    Object.entries(blobs.show(withChanges(sides.head, changes), merge.newBlobs)).map(([path, shown]) => [
      path,
      shown.slice(4),
    ]),
  );
  return { files, remaining: remaining.map((c) => c.path), faults };
}

const clash: [Literal, Literal, Literal] = [
  { a: 'base\n' },
  { a: 'head\n', h: 'h\n' },
  { a: 'draft\n', d: 'd\n' },
];
const nested: [Literal, Literal, Literal] = [
  { 'd/a': '1', 'd/e/b': '2', dd: '3' },
  { 'd/a': 'h1', 'd/e/b': 'h2', dd: 'h3' },
  { 'd/a': 'd1', 'd/e/b': 'd2', dd: 'd3' },
];

describe('resolutions', () => {
  test.each(['head', 'draft'] as const)('take the %s, with the clean rest', async (take) => {
    expect(await resolved(...clash, { a: take })).toEqual({
      files: { a: `${take}\n`, d: 'd\n', h: 'h\n' },
      remaining: [],
      faults: [],
    });
  });

  test('of a deleting side delete', async () => {
    const trees: [Literal, Literal, Literal] = [{ a: lines(9), b: lines(9) }, { b: 'h\n' }, { a: 'd\n' }];
    expect((await resolved(...trees, { a: 'head', b: 'draft' })).files).toEqual({});
    expect((await resolved(...trees, { a: 'draft', b: 'head' })).files).toEqual({ a: 'd\n', b: 'h\n' });
  });

  test('of a part leave the rest, as in the draft', async () => {
    expect(await resolved(...nested, { dd: 'head' })).toEqual({
      files: { 'd/a': 'd1', 'd/e/b': 'd2', dd: 'h3' },
      remaining: ['d/a', 'd/e/b'],
      faults: [],
    });
  });

  test('of a folder take all below it; longer folders and exact paths go before', async () => {
    expect((await resolved(...nested, { 'd/': 'head' })).remaining).toEqual(['dd']);
    expect((await resolved(...nested, { 'd/': 'head', 'd/e/': 'draft', dd: 'head' })).files).toEqual({
      'd/a': 'h1',
      'd/e/b': 'd2',
      dd: 'h3',
    });
    expect(
      (await resolved(...nested, { 'd/e/b': 'head', 'd/e/': 'draft', 'd/': 'draft', dd: 'draft' })).files,
    ).toEqual({ 'd/a': 'd1', 'd/e/b': 'h2', dd: 'd3' });
  });

  test('of a moved file take each side as it is', async () => {
    const big = lines(40);
    const trees: [Literal, Literal, Literal] = [
      { old: big },
      { new: lines(40, { 7: 'H' }) },
      { old: lines(40, { 7: 'D' }) },
    ];
    expect((await resolved(...trees, { old: 'draft', new: 'draft' })).files).toEqual({
      old: lines(40, { 7: 'D' }),
    });
    expect((await resolved(...trees, { old: 'head', new: 'head' })).files).toEqual({
      new: lines(40, { 7: 'H' }),
    });
  });

  test('that clash anew leave the clashing paths in conflict', async () => {
    const trees: [Literal, Literal, Literal] = [
      {},
      { a: 'f\n', 'README.md': 'h\n' },
      { 'a/b': 'g\n', 'readme.md': 'd\n' },
    ];
    expect(
      (await resolved(...trees, { a: 'head', 'a/': 'draft', 'README.md': 'head', 'readme.md': 'draft' }))
        .remaining,
    ).toEqual(['README.md', 'a', 'a/b', 'readme.md']);
    expect(
      await resolved(...trees, { a: 'draft', 'a/': 'draft', 'README.md': 'head', 'readme.md': 'head' }),
    ).toEqual({ files: { 'README.md': 'h\n', 'a/b': 'g\n' }, remaining: [], faults: [] });
  });

  test('that clash with what merged cleanly can go on to those paths, in the same list', async () => {
    const trees: [Literal, Literal, Literal] = [
      { 'd/a': 'a\n' },
      { d: 'a\n' },
      { 'd/a': 'a\n', 'd/new': 'n\n' },
    ];
    const first: Record<string, 'draft'> = { 'd/new': 'draft', new: 'draft' };
    expect((await resolved(...trees, first)).remaining).toEqual(['d', 'd/new']);
    expect(await resolved(...trees, { ...first, d: 'draft' })).toEqual({
      files: { 'd/new': 'n\n' },
      remaining: [],
      faults: [],
    });
    expect(
      (await resolved(...trees, { 'd/new': 'head', new: 'head', d: 'draft' })).faults.map((f) => f.index),
    ).toEqual([2]);
  });

  test.each<[string, Resolution[], number[]]>([
    [
      'given twice',
      [
        { path: 'a', take: 'head' },
        { path: 'a', take: 'draft' },
      ],
      [1],
    ],
    [
      'unknown',
      [
        { path: 'a', take: 'head' },
        { path: 'nowhere', take: 'head' },
      ],
      [1],
    ],
    ['in other case', [{ path: 'A', take: 'head' }], [0]],
    [
      'that merge by themselves',
      [
        { path: 'd', take: 'head' },
        { path: 'a', take: 'head' },
        { path: 'h', take: 'head' },
      ],
      [0, 2],
    ],
    [
      'of a folder without conflicts',
      [
        { path: 'x/', take: 'head' },
        { path: 'a/', take: 'head' },
      ],
      [0, 1],
    ],
  ])('%s are refused by their place', async (_, resolutions, indexes) => {
    const { faults, remaining } = await resolved(...clash, resolutions);
    expect(faults.map((f) => f.index)).toEqual(indexes);
    expect(remaining).toEqual(['a']);
  });
});
