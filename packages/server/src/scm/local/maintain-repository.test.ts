import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitFiles } from '../../git/git.fixture.ts';
import { listBranches } from '../../git/read.ts';
import { runGit } from '../../git/run-git.ts';
import { maintainRepository, needsMaintenance, removeRubbish } from './maintain-repository.ts';
import { openLocalFolder } from './repository-folder.ts';

let dataDir: string, dir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'headrace-maintain-'));
  dir = await openLocalFolder({ dataDir }, { id: 'repo_1', default_branch: 'main' });
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const packs = async () =>
  (await readdir(join(dir, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'));
const idOf = async (rev: string) => (await runGit(dir, ['rev-parse', rev])).output.toString().trim();

test('many packs and references become few, and no object is lost, also of no branch', async () => {
  const tip = await commitFiles(dir, 'main', [{ path: 'a', content: 'a' }]);
  const ids: string[] = [];
  for (let i = 0; i < 21; i++) {
    const content = `of nobody ${i}`;
    const input = `blob\ndata ${content.length}\n${content}\n`;
    await runGit(dir, ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet'], { input });
    ids.push(createHash('sha1').update(`blob ${content.length}\0${content}`).digest('hex'));
  }
  const { output } = await runGit(dir, ['hash-object', '-w', '--stdin'], { input: 'loose' });
  ids.push(output.toString().trim());
  expect((await packs()).length).toBeGreaterThan(20);
  expect(await needsMaintenance(dir)).toBe(true);
  await maintainRepository(dir, new AbortController().signal);
  expect((await packs()).length).toBeLessThan(5);
  expect(await needsMaintenance(dir)).toBe(false);
  expect(await listBranches(dir)).toEqual([{ name: 'main', commitSha: tip }]);
  const found = await runGit(dir, ['cat-file', '--batch-check'], { input: ids.join('\n') });
  expect(found.output.toString()).not.toContain('missing');
  await runGit(dir, ['fsck', '--strict', '--no-dangling']);
});

test('many loose references ask for it, too', async () => {
  const tip = await idOf('main');
  const input = Array.from({ length: 501 }, (_, i) => `create refs/tags/t${i} ${tip}\n`).join('');
  await runGit(dir, ['update-ref', '--stdin'], { input });
  expect(await needsMaintenance(dir)).toBe(true);
  await maintainRepository(dir, new AbortController().signal);
  expect(await needsMaintenance(dir)).toBe(false);
});

test('what a killed git left goes once no git can be at it any more', async () => {
  const objects = join(dir, 'objects');
  const [fresh, old, pack] = [
    join(objects, 'tmp_objdir-incoming-a'),
    join(objects, 'tmp_objdir-incoming-b'),
    join(objects, 'pack', '.tmp-1-pack-2.pack'),
  ];
  for (const folder of [fresh, old]) await mkdir(folder);
  for (const file of [join(old, 'x'), pack]) await writeFile(file, 'x');
  const before = new Date(Date.now() - 2 * 3_600_000);
  for (const path of [old, pack]) await utimes(path, before, before);
  await removeRubbish(dir);
  expect((await readdir(objects)).filter((name) => name.startsWith('tmp_'))).toEqual([
    'tmp_objdir-incoming-a',
  ]);
  expect((await readdir(join(objects, 'pack'))).filter((name) => name.startsWith('.tmp'))).toEqual([]);
});
