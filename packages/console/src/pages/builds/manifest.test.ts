import { describe, expect, test } from 'vitest';
import { bigFolders, compareManifests, treeRows } from './manifest.ts';
import type { ManifestFile } from './manifest.ts';

const file = (path: string, byteSize = 1, sha256 = 'a', mode: ManifestFile['mode'] = '0644') => ({
  path,
  byteSize,
  sha256,
  mode,
});
const manifest = (...files: ManifestFile[]) => ({
  files,
  byteSize: files.reduce((sum, { byteSize }) => sum + byteSize, 0),
});

describe('the tree of an artifact', () => {
  const files = [file('a.txt', 5), file('b/c/d.txt', 7), file('b/e.txt', 2), file('z.txt', 1)];

  test('has folders first, with the sizes of all files below', () => {
    expect(
      treeRows(files, new Set()).map(({ path, depth, byteSize, fileCount }) => [
        path,
        depth,
        byteSize,
        fileCount,
      ]),
    ).toEqual([
      ['b', 0, 9, 2],
      ['b/c', 1, 7, 1],
      ['b/c/d.txt', 2, 7, 1],
      ['b/e.txt', 1, 2, 1],
      ['a.txt', 0, 5, 1],
      ['z.txt', 0, 1, 1],
    ]);
  });

  test('has nothing below closed folders', () => {
    expect(treeRows(files, new Set(['b'])).map(({ path }) => path)).toEqual(['b', 'a.txt', 'z.txt']);
    const many = Array.from({ length: 300 }, (_, i) => file(`assets/${i}.js`));
    expect(bigFolders([...many, file('b/x')], 200)).toEqual(new Set(['assets']));
    expect(bigFolders(files, 200)).toEqual(new Set());
  });

  test('keeps names that objects have by themselves', () => {
    expect(treeRows([file('__proto__/constructor')], new Set()).map(({ path }) => path)).toEqual([
      '__proto__',
      '__proto__/constructor',
    ]);
  });
});

test('two artifacts differ by content and mode, sorted by path', () => {
  const old = manifest(file('gone', 4), file('same', 3), file('text', 5, 'b'), file('run', 2));
  const now = manifest(file('new', 9), file('run', 2, 'a', '0755'), file('same', 3), file('text', 6, 'c'));
  expect(compareManifests(old, now)).toEqual({
    changes: [
      { path: 'gone', kind: 'removed', before: 4, after: null },
      { path: 'new', kind: 'added', before: null, after: 9 },
      { path: 'run', kind: 'mode', before: 2, after: 2 },
      { path: 'text', kind: 'changed', before: 5, after: 6 },
    ],
    same: 1,
    before: 14,
    after: 20,
  });
});
