import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestService } from '@headrace/client/testing';
import { expect, test } from 'vitest';
import { linkedFolder, writeFiles } from './source.fixture.ts';

const textOf = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8');

async function pushed() {
  const service = createTestService();
  const linked = await linkedFolder({ 'a.txt': 'a', 'b.txt': 'b', 'bin/run': '#!' }, service);
  const first = (await linked.run(['push'])).stdout.trim();
  return { service, first, ...linked };
}

test('a pull writes what the head has, and leaves what the folder has on its own', async () => {
  const { service, run, folder, appId } = await pushed();
  const head = service.moveHead(appId, { 'a.txt': 'A', 'b.txt': null, 'new.txt': 'n' });
  writeFiles(folder, { 'mine.txt': 'mine' });
  const { exit, stdout, stderr } = await run(['pull']);
  expect([exit, stdout]).toEqual([0, 'M\ta.txt\nA\tnew.txt\nD\tb.txt\n']);
  expect(stderr).toContain(`Pulled ${head}: 1 added, 1 modified, 1 deleted of 4 files`);
  expect([textOf(folder, 'a.txt'), textOf(folder, 'mine.txt'), existsSync(join(folder, 'b.txt'))]).toEqual([
    'A',
    'mine',
    false,
  ]);
  const again = await run(['pull', '--json']);
  expect(again.json()).toMatchObject({
    ok: true,
    source: { id: head },
    written: [],
    deleted: [],
    unchanged: 4,
  });
});

test('changed files end it with 6 and are named, unless --force replaces them', async () => {
  const { service, run, folder, appId } = await pushed();
  service.moveHead(appId, { 'a.txt': 'A' });
  writeFiles(folder, { 'a.txt': 'mine' });
  const refused = await run(['pull']);
  expect([refused.exit, refused.stdout, refused.stderr]).toEqual([
    6,
    '',
    'headrace: Nothing was written: the folder has its own content at a.txt.\n' +
      '  → headrace push stores it as a source; --force replaces it\n',
  ]);
  expect(textOf(folder, 'a.txt')).toBe('mine');
  expect((await run(['pull', '--force'])).exit).toBe(0);
  expect(textOf(folder, 'a.txt')).toBe('A');
});

test('any version goes to a new folder, with modes; links in it are not followed', async () => {
  const { service, run, cli, first, appId } = await pushed();
  service.moveHead(appId, { 'a.txt': 'A' });
  const copy = join(cli.cwd, 'ein Ordner/日本');
  const { exit, stdout, stderr } = await run(['pull', first.slice(0, 20), copy]);
  expect([exit, stdout, stderr]).toEqual([2, '', expect.stringContaining('Several sources are')]);
  const pulled = await run(['pull', first, copy]);
  expect([pulled.exit, pulled.stdout, pulled.stderr]).toEqual([
    0,
    '',
    expect.stringContaining('4 added of 4 files'),
  ]);
  expect([textOf(copy, 'a.txt'), statSync(join(copy, 'bin/run')).mode & 0o100]).toEqual(['a', 0o100]);
  const trap = join(cli.cwd, 'trap');
  mkdirSync(trap);
  symlinkSync(cli.home, join(trap, 'bin'));
  expect((await run(['pull', 'head', trap])).exit).toBe(6);
  expect(existsSync(join(cli.home, 'run'))).toBe(false);
});

test('a file in place of the folder, and a place that cannot be written, are named', async () => {
  const { run, cli } = await pushed();
  const file = join(cli.cwd, 'file');
  writeFileSync(file, '');
  const refused = await run(['pull', 'head', file]);
  expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining(`${file} is a file`)]);
  const below = await run(['pull', 'head', join(file, 'sub')]);
  expect([below.exit, below.stderr]).toEqual([1, expect.stringContaining('ENOTDIR')]);
});
