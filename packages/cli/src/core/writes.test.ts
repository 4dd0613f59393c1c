import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stateFolder } from '../config/files.ts';
import { testIo } from './io.fixture.ts';
import type { TestIo } from './io.fixture.ts';
import { beginWrite } from './writes.ts';

const IDENTITY = ['https://headrace.example', 'apps create', ['Shop']];
const folderOf = (io: TestIo) => join(stateFolder(io), 'writes');
const filesOf = (io: TestIo) => readdirSync(folderOf(io));

/** The number of a process that has ended. */
const deadPid = () => spawnSync('true').pid;

/** As if the process that began the only write were another one. */
function giveTo(io: TestIo, pid: number): string {
  const [name] = filesOf(io) as [string];
  const renamed = name.replace(`.${process.pid}.`, `.${pid}.`);
  renameSync(join(folderOf(io), name), join(folderOf(io), renamed));
  return renamed;
}

test('a write that ended leaves nothing', () => {
  const io = testIo();
  const write = beginWrite(io, IDENTITY, false);
  expect(filesOf(io)).toHaveLength(1);
  write.end();
  expect(filesOf(io)).toEqual([]);
  expect(beginWrite(io, IDENTITY, false)).toMatchObject({ continues: null, unkept: null });
});

test('the same command takes the key of a dead process, and others do not', () => {
  const io = testIo();
  const { key } = beginWrite(io, IDENTITY, false);
  giveTo(io, deadPid());
  const other = beginWrite(io, [...IDENTITY, 'other'], false);
  expect(other).toMatchObject({ continues: null });
  expect(other.key).not.toBe(key);
  const again = beginWrite(io, IDENTITY, false);
  expect(again).toMatchObject({ key, continues: expect.any(Date) });
  again.end();
  other.end();
  expect(filesOf(io)).toEqual([]);
});

test('while another process that says the same lives, each has its own key', async () => {
  const io = testIo();
  const { key } = beginWrite(io, IDENTITY, false);
  const living = spawn('sleep', ['60']);
  try {
    giveTo(io, living.pid!);
    const mine = beginWrite(io, IDENTITY, false);
    expect(mine.continues).toBeNull();
    expect(mine.key).not.toBe(key);
    mine.end();
    expect(filesOf(io)).toHaveLength(1);
  } finally {
    living.kill('SIGKILL');
    await new Promise((resolve) => living.once('exit', resolve));
  }
  expect(beginWrite(io, IDENTITY, false).key).toBe(key);
});

test('of two processes, one takes the key', async () => {
  const io = testIo();
  const { key } = beginWrite(io, IDENTITY, false);
  giveTo(io, deadPid());
  const script = `
    import { beginWrite } from ${JSON.stringify(new URL('writes.ts', import.meta.url).href)};
    const write = beginWrite({ env: { HOME: process.env.HOME } }, ${JSON.stringify(IDENTITY)}, false);
    process.stdout.write(write.key + '\\n');
    process.stdin.on('end', () => process.exit()).resume();`;
  const all = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: process.env.PATH, HOME: io.home },
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const keys = await Promise.all(
    all.map(
      (one) =>
        new Promise<string>((resolve) => one.stdout.once('data', (data) => resolve(String(data).trim()))),
    ),
  );
  for (const one of all) one.stdin.end();
  await Promise.all(all.map((one) => new Promise((resolve) => one.once('exit', resolve))));
  expect(keys.filter((one) => one === key)).toHaveLength(1);
  expect(new Set(keys).size).toBe(3);
});

test('a fresh command takes a new key, and the old one is gone', () => {
  const io = testIo();
  const { key } = beginWrite(io, IDENTITY, false);
  giveTo(io, deadPid());
  const fresh = beginWrite(io, IDENTITY, true);
  expect(fresh).toMatchObject({ continues: null });
  expect(fresh.key).not.toBe(key);
  fresh.end();
  expect(filesOf(io)).toEqual([]);
});

test('a key that is older than the service’s receipts is not used, and is removed', () => {
  const io = testIo();
  const { key } = beginWrite(io, IDENTITY, false);
  const old = new Date(Date.now() - 13 * 3_600_000);
  utimesSync(join(folderOf(io), giveTo(io, deadPid())), old, old);
  const mine = beginWrite(io, IDENTITY, false);
  expect(mine.continues).toBeNull();
  expect(mine.key).not.toBe(key);
  expect(filesOf(io)).toHaveLength(1);
});

test('a key that is taken over keeps its age', () => {
  const io = testIo();
  beginWrite(io, IDENTITY, false);
  const begun = new Date(Date.now() - 3_600_000);
  utimesSync(join(folderOf(io), giveTo(io, deadPid())), begun, begun);
  for (const _ of ['taken', 'taken again']) {
    expect(beginWrite(io, IDENTITY, false).continues).toEqual(begun);
    giveTo(io, deadPid());
  }
});

test('a home that cannot be written has keys that are not kept', () => {
  const io = testIo();
  mkdirSync(join(io.home, '.local'));
  writeFileSync(join(io.home, '.local/state'), 'a file where a folder must be');
  const write = beginWrite(io, IDENTITY, false);
  expect(write).toMatchObject({
    key: expect.stringMatching(/^cli:/),
    continues: null,
    unkept: expect.any(String),
  });
  write.end();
});
