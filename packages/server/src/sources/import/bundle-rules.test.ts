import { expect, test } from 'vitest';
import { checkTree } from './bundle-rules.ts';

const MIB = 1024 * 1024;
const files = (...paths: string[]) => paths.map((path) => ({ path, byteSize: 1 }));
const faulty = (paths: string[], source?: string[]) =>
  checkTree(files(...paths), source && new Map(source.map((path) => [path, null]))).map(({ path }) => path);

test('a tree beside the source that it was made from has the same faults as without it', () => {
  for (const [paths, faults] of [
    [['a', 'b/c'], []],
    [['a'], []],
    [[], []],
    [['a', 'b/c', 'd'], []],
    [['a', 'A', 'b/c'], ['A']],
    [['a', 'b', 'b/c'], ['b/c']],
    [['a', '../x', 'b/c'], ['../x']],
    [['.git/config'], ['.git/config']],
  ] as [string[], string[]][])
    expect([paths, faulty(paths), faulty(paths, ['a', 'b/c'])]).toEqual([paths, faults, faults]);
});

test('sizes and numbers are bounded for paths of the source too', () => {
  const large = [{ path: 'a', byteSize: 8 * MIB + 1 }];
  expect(checkTree(large, new Map([['a', null]])).map(({ path }) => path)).toEqual(['a']);
  const many = Array.from({ length: 5 }, (_, i) => ({ path: `f${i}`, byteSize: 7 * MIB }));
  expect(checkTree(many, new Map(many.map(({ path }) => [path, null]))).map(({ path }) => path)).toEqual([
    null,
  ]);
  const tooMany = Array.from({ length: 10_001 }, (_, i) => ({ path: `f${i}`, byteSize: 1 }));
  expect(
    checkTree(tooMany, new Map(tooMany.map(({ path }) => [path, null]))).map(({ path }) => path),
  ).toEqual([null]);
});
