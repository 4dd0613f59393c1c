import { expect, test } from 'vitest';
import { sortTree } from './kept-aside.ts';

const entry = (path: string | Buffer, mode = '100644', byteSize = 1) => ({
  path: Buffer.from(path as string),
  mode,
  byteSize,
});

test('a tree is divided into files of a source and what is kept aside, each with its reason', () => {
  const { files, keptAside } = sortTree(
    [
      entry('.git2/x'),
      entry('.hoplite/x'),
      entry('A.txt', '100755'),
      entry('Docs/a'),
      entry('a.txt'),
      entry('a\\b'),
      entry('big', '100644', 11),
      entry('docs/b'),
      entry('link', '120000'),
      entry('module', '160000', 0),
      entry(Buffer.from([0x6e, 0xff])),
      entry('sub/GIT~1/x'),
    ],
    10,
  );
  expect(files.map(({ path }) => path)).toEqual(['.git2/x', 'A.txt', 'Docs/a', 'docs/b']);
  expect(keptAside.map(({ path, reason }) => [path, reason])).toEqual([
    ['.hoplite/x', 'reserved_name'],
    ['a.txt', 'collision'],
    ['a\\b', 'invalid_name'],
    ['big', 'too_large'],
    ['link', 'symlink'],
    ['module', 'submodule'],
    ['n\ufffd', 'invalid_name'],
    ['sub/GIT~1/x', 'reserved_name'],
  ]);
});

test('of a file and a folder at one path, the later by its bytes is kept aside', () => {
  const { files, keptAside } = sortTree([entry('Lib'), entry('lib/a'), entry('lib/b')], 10);
  expect(files.map(({ path }) => path)).toEqual(['Lib']);
  expect(keptAside.map(({ path }) => path)).toEqual(['lib/a', 'lib/b']);
});
