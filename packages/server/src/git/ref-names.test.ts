import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { isBranchName } from './ref-names.ts';

const NAMES = [
  'main', 'a/b', 'release/2.x', 'ü', 'a@b', 'a{b', 'a.b', '@a', 'a@', '-a', 'a-', 'a/-b', 'HEAD', 'HEADS', 'a/HEAD',
  '', 'a..b', 'a b', 'a~1', 'a^', 'a:b', 'a?', 'a*', 'a[b', 'a]b', 'a\\b', 'a.lock', 'a.lock/b', 'a.lockb', 'a/', '/a', 'a//b',
  '.a', 'a.', 'a/.b', 'a./b', 'a@{b', 'a\n', 'a\x7f', '\u2028', 'a\u2028..b', 'x'.repeat(250), '😀',
]; // prettier-ignore

test('takes the names that git takes', () => {
  const byGit = NAMES.filter((name) => {
    try {
      execFileSync('git', ['check-ref-format', '--branch', name], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
  expect(NAMES.filter(isBranchName)).toEqual(byGit);
  expect(isBranchName('a/'.repeat(120) + 'a')).toBe(true);
  for (const name of ['x'.repeat(251), 'ü'.repeat(126), 'a/'.repeat(127) + 'aa'])
    expect([name, isBranchName(name)]).toEqual([name, false]);
});
