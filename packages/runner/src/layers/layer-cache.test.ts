import { expect, test } from 'vitest';
import { LayerCache } from './layer-cache.ts';

function cacheOf(bytes: number, lowMemory = 0): { cache: LayerCache; removed: string[] } {
  const removed: string[] = [];
  return {
    cache: new LayerCache({ bytes, entries: 100, lowMemory }, (folder) => removed.push(folder)),
    removed,
  };
}

/** Adds a layer and gives it back after a first use. */
function addUnused(cache: LayerCache, key: string, byteSize: number): void {
  expect(cache.add({ key, group: 'prj', folder: key, byteSize, entries: 1 })).toBe(true);
  cache.release(cache.take(key)!);
}

test('beyond the limit, the least recently used layers make room', () => {
  const { cache, removed } = cacheOf(10);
  addUnused(cache, 'a', 4);
  addUnused(cache, 'b', 4);
  cache.release(cache.take('a')!);
  addUnused(cache, 'c', 4);
  expect([removed, cache.keys('prj'), cache.take('b')]).toEqual([['b'], ['c', 'a'], undefined]);
});

test('a layer in use stays, and one that finds no room beside those is not added', () => {
  const { cache, removed } = cacheOf(10);
  addUnused(cache, 'a', 6);
  const used = cache.take('a')!;
  expect(cache.add({ key: 'b', group: 'prj', folder: 'b', byteSize: 6, entries: 1 })).toBe(false);
  cache.clear();
  expect([removed, cache.keys('prj')]).toEqual([[], ['a']]);
  cache.release(used);
  expect(cache.add({ key: 'b', group: 'prj', folder: 'b', byteSize: 6, entries: 1 })).toBe(true);
  expect(removed).toEqual(['a']);
});

test('a new layer waits for its first tree, whatever is short', () => {
  const { cache, removed } = cacheOf(10, 2);
  expect(cache.add({ key: 'a', group: 'prj', folder: 'a', byteSize: 4, entries: 1 })).toBe(true);
  cache.clear();
  expect(removed).toEqual([]);
  cache.release(cache.take('a')!);
  expect([removed, cache.keys('prj')]).toEqual([['a'], []]);
});

test('what a project had goes at once, and with its last tree where one has it', () => {
  const { cache, removed } = cacheOf(10);
  addUnused(cache, 'a', 1);
  addUnused(cache, 'b', 1);
  cache.add({ key: 'new', group: 'prj', folder: 'new', byteSize: 1, entries: 1 });
  cache.add({ key: 'other', group: 'prj2', folder: 'other', byteSize: 1, entries: 1 });
  const used = cache.take('b')!;
  cache.forget('prj');
  expect([removed, cache.keys('prj'), cache.groups(), cache.take('b')]).toEqual([
    ['a', 'new'],
    [],
    ['prj2'],
    undefined,
  ]);
  cache.release(used);
  expect(removed).toEqual(['a', 'new', 'b']);
});

test('entries are bounded, too', () => {
  const { cache, removed } = cacheOf(10);
  for (const key of ['a', 'b']) {
    expect(cache.add({ key, group: 'prj', folder: key, byteSize: 0, entries: 60 })).toBe(true);
    cache.release(cache.take(key)!);
  }
  expect([removed, cache.keys('prj')]).toEqual([['a'], ['b']]);
  expect(cache.add({ key: 'c', group: 'prj', folder: 'c', byteSize: 0, entries: 101 })).toBe(false);
});
