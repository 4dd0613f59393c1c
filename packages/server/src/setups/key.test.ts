import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Entry } from '../trees/tree.ts';
import { keyOf, namedFiles } from './key.ts';

const entry = (sha256: string, executable = false): Entry => ({ sha256, byteSize: 1, executable });
const TREE = new Map([
  ['lib', entry('a')],
  ['lib/a', entry('b')],
  ['lib/deep/b', entry('c', true)],
  ['lib2/a', entry('d')],
]);

test.each([
  [['.'], ['lib', 'lib/a', 'lib/deep/b', 'lib2/a']],
  [['lib'], ['lib']],
  [['lib/'], ['lib/a', 'lib/deep/b']],
  [
    ['lib2/a', 'lib/', 'lib/a', 'missing', 'gone/'],
    ['lib/a', 'lib/deep/b', 'lib2/a'],
  ],
  [['li'], []],
])('%j names these files, in their order', (paths, expected) => {
  expect([...namedFiles(TREE, paths).keys()]).toEqual(expected);
});

test('the key is the SHA-256 of the command, the runtime and each file', async () => {
  const lines = ['["npm ci",null]', '["lib/a","0644","b"]', '["lib/deep/b","0755","c"]'];
  expect(await keyOf('npm ci', null, namedFiles(TREE, ['lib/']))).toBe(
    createHash('sha256')
      .update(`${lines.join('\n')}\n`)
      .digest('hex'),
  );
  const others = [
    await keyOf('npm ci', 'debian-12', namedFiles(TREE, ['lib/'])),
    await keyOf('npm i', null, namedFiles(TREE, ['lib/'])),
    await keyOf('npm ci', null, namedFiles(TREE, ['lib/a'])),
  ];
  expect(new Set(others).size).toBe(3);
});
