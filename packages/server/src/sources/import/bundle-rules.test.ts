import { expect, test } from 'vitest';
import { BUNDLE_LIMITS } from '../../trees/limits.ts';
import { checkTree } from './bundle-rules.ts';

const MIB = 1024 * 1024;
const treeOf = (paths: string[], byteSize = 1) => new Map(paths.map((path) => [path, { byteSize }]));
const faulty = (paths: string[], source: string[] = []) =>
  checkTree(treeOf(paths), BUNDLE_LIMITS, treeOf(source)).paths.map(({ path }) => path);

test('a tree beside the source that it was made from has the same faults as without it', () => {
  for (const [paths, faults] of [
    [['a', 'b/c'], []],
    [['a'], []],
    [[], []],
    [['a', 'b/c', 'd'], []],
    [['a', 'A', 'b/c'], ['A']],
    [['a', '../x', 'b/c'], ['../x']],
    [['.git/config'], ['.git/config']],
  ] as [string[], string[]][])
    expect([paths, faulty(paths), faulty(paths, ['a', 'b/c'])]).toEqual([paths, faults, faults]);
});

test('of paths that collide, those of the source are good', () => {
  expect(faulty(['A', 'a'])).toEqual(['a']);
  expect(faulty(['A', 'a'], ['a'])).toEqual(['A']);
  expect(faulty(['b', 'b/c'], ['b/c'])).toEqual(['b']);
  expect(faulty(['Caf\u00c9', 'cafe\u0301', 'x'], ['cafe\u0301'])).toEqual(['Caf\u00c9']);
});

test('sizes and numbers are bounded for paths of the source too', () => {
  const limitOf = (paths: string[], byteSize: number, limits = BUNDLE_LIMITS) =>
    checkTree(treeOf(paths, byteSize), limits, treeOf(paths)).limit;
  const names = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);
  expect(limitOf(['a'], 8 * MIB)).toBe(null);
  expect(limitOf(['a'], 8 * MIB + 1)).toBe('a: must not be larger than 8 MiB');
  expect(limitOf(names(5), 7 * MIB)).toContain('32 MiB in all');
  expect(limitOf(names(10_000), 1)).toBe(null);
  expect(limitOf(names(10_001), 1)).toContain('10000 files');
  const wide = { files: 20_000, bytes: 100 * MIB, fileBytes: 30_000_000 };
  expect(limitOf(names(10_001), 1, wide)).toBe(null);
  expect(limitOf(['a'], 30_000_001, wide)).toBe('a: must not be larger than 30000000 bytes');
  expect(limitOf(names(15), 7 * MIB, wide)).toContain('100 MiB in all');
});

test('what a source cannot hold does not count in its limits', () => {
  expect(
    checkTree(
      new Map([
        ['a\tb', { byteSize: 33 * MIB }],
        ['c', { byteSize: 1 }],
      ]),
      BUNDLE_LIMITS,
    ),
  ).toEqual({
    paths: [{ path: 'a\tb', message: 'must not contain control characters' }],
    limit: null,
  });
});
