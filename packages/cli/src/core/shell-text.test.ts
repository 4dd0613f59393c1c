import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellText } from './shell-text.ts';

test('one word is a line for the shell, several are its words exactly', () => {
  expect(shellText(['npm ci && npm run build'])).toBe('npm ci && npm run build');
  const words = ['printf', '%s|', '', 'a b', "it's", '$HOME', 'x\ny', '*', '--', '`id`', 'ä"'];
  const line = shellText(words);
  expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toBe(`${words.slice(2).join('|')}|`);
  expect(shellText(['npm', 'run', 'build', '--out=dist'])).toBe('npm run build --out=dist');
  for (const none of [[], [' ']]) expect(() => shellText(none)).toThrow('is empty');
});
