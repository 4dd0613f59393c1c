import { describe, expect, test } from 'vitest';
import { changedElsewhere, unnamed } from './changes.ts';

const tree = (files: Record<string, string>) =>
  new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      { sha256: content.replace('+x', ''), byteSize: 1, executable: content.endsWith('+x') },
    ]),
  );
const left = (paths: string[], summary: string, ...checks: string[]) =>
  unnamed(paths, { status: 'resolved', summary, checks });

test('new, changed, removed files and modes are changes; what was in conflict is none', () => {
  const begun = tree({ a: '1', b: '1', c: '1', d: '1', same: '1' });
  const made = tree({ a: '2', b: '2', d: '1+x', same: '1', é: '1', z: '1', '\u{1f600}': '1', '\uff5e': '1' });
  expect(changedElsewhere(begun, made, ['a', 'z'])).toEqual(['b', 'c', 'd', 'é', '\uff5e', '\u{1f600}']);
  expect(changedElsewhere(begun, begun, [])).toEqual([]);
});

describe('a report names a path', () => {
  test.each([
    ['src/a.ts', 'Changed src/a.ts.'],
    ['src/a.ts', 'src/a.ts: both kept'],
    ['src/a.ts', '`src/a.ts`, then the rest'],
    ['src/a.ts', '(./src/a.ts)'],
    ['src/a.ts', './src/a.ts'],
    ['src/a.ts', 'All below src/ was formatted'],
    ['src/x/a.ts', 'in src/x/:'],
    ['a b.txt', 'the file "a b.txt" is new'],
    ['cafe\u0301.txt', 'caf\u00e9.txt'],
    ['a', 'x/a and a'],
    ['[id].ts', 'see [id].ts'],
    ['.env', 'sets .env'],
  ])('%s in %j', (path, words) => {
    expect([left([path], words), left([path], 'Done.', 'ran the tests', words)]).toEqual([[], []]);
  });

  test.each([
    ['a.ts', 'Changed src/a.ts'],
    ['a.ts', 'a.tsx'],
    ['a.ts', 'a.ts.bak'],
    ['a.ts', 'ba.ts'],
    ['a.ts', '../a.ts'],
    ['a.ts', 'A.ts'],
    ['a', 'a/b'],
    ['src/a.ts', 'Changed src'],
    ['src/a.ts', 'lib/src/'],
    ['src/a.ts', 'srcs/'],
    ['src/a.ts', 'src/[id].ts, src/*.css, src/b.ts'],
    ['a.ts', 'à.ts a-a.ts a_a.ts a.ts-a'],
    ['a.ts', ''],
  ])('not %s in %j', (path, words) => {
    expect(left([path], words)).toEqual([path]);
  });

  test('each path by itself, in the order they came', () => {
    expect(left(['a', 'b', 'd/e', 'd/f'], 'b and d/f')).toEqual(['a', 'd/e']);
  });
});
