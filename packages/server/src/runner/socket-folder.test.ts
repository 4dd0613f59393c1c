import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { firstSafe } from './socket-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'hr-sock-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (name: string) => join(root, name);
const made = (name: string, mode = 0o700) => {
  mkdirSync(at(name));
  chmodSync(at(name), mode);
  return at(name);
};

test('a folder that is missing is made, for this account alone', () => {
  expect(firstSafe([at('new/inner'), at('other')])).toBe(at('new/inner'));
  expect(lstatSync(at('new/inner')).mode & 0o777).toBe(0o700);
  expect(firstSafe([at('new/inner')])).toBe(at('new/inner'));
});

test('one that others can write or read, a link and a long path are passed over', () => {
  symlinkSync(made('target'), at('link'));
  const unsafe = [made('open', 0o777), made('readable', 0o750), at('link'), at('x'.repeat(80))];
  expect(firstSafe([...unsafe, at('last')])).toBe(at('last'));
  expect(() => firstSafe(unsafe)).toThrow('No folder for sockets');
});

test.skipIf(process.getuid?.() !== 0)("another account's folder is passed over", () => {
  const foreign = made('foreign');
  chownSync(foreign, 12_345, 12_345);
  expect(firstSafe([foreign, at('mine')])).toBe(at('mine'));
});
