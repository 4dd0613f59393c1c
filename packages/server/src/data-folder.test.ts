import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { openDataFolder } from './data-folder.ts';

const root = await mkdtemp(join(tmpdir(), 'hr-data-'));
afterAll(() => rm(root, { recursive: true, force: true }));
const modeOf = async (folder: string) => ((await stat(folder)).mode & 0o777).toString(8);

test('a new data folder, and the folder of merges in it, are closed to other accounts', async () => {
  const warn = vi.fn();
  const dataDir = join(root, 'new/data');
  await openDataFolder(dataDir, { warn });
  await openDataFolder(dataDir, { warn });
  expect([await modeOf(dataDir), await modeOf(join(dataDir, 'merge'))]).toEqual(['700', '700']);
  expect(warn).not.toHaveBeenCalled();
});

test('one that is open stays as it is, with a warning', async () => {
  const warn = vi.fn();
  const dataDir = join(root, 'open');
  await mkdir(dataDir);
  await chmod(dataDir, 0o750);
  await openDataFolder(dataDir, { warn });
  expect(await modeOf(dataDir)).toBe('750');
  expect(warn.mock.calls).toEqual([[{ folder: dataDir }, expect.stringContaining('chmod 700')]]);
});
