import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFolder } from './read-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headrace-read-folder-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('text is text, other bytes are base64', async () => {
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'SKILL.md'), 'ä');
  writeFileSync(join(folder, 'bin/x'), Buffer.of(0xff), { mode: 0o755 });
  expect((await readFolder(folder)).files).toEqual([
    { path: 'SKILL.md', content: 'ä', encoding: 'utf8', executable: false },
    { path: 'bin/x', content: '/w==', encoding: 'base64', executable: true },
  ]);
});

test('more than a skill holds is refused before it is read', async () => {
  for (let i = 0; i < 201; i++) writeFileSync(join(folder, `f${i}`), '');
  await expect(readFolder(folder)).rejects.toMatchObject({
    code: 'invalid_bundle',
    fields: [{ path: '/files', message: 'A skill holds at most 200 files.' }],
  });
  rmSync(join(folder, 'f0'));
  expect((await readFolder(folder)).files).toHaveLength(200);
  writeFileSync(join(folder, 'f1'), Buffer.alloc(4 * 1024 * 1024 + 1));
  await expect(readFolder(folder)).rejects.toMatchObject({
    fields: [{ path: '/files', message: 'A skill holds at most 4 MiB in all.' }],
  });
});
