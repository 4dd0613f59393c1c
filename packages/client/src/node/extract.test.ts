import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import type { Header } from 'tar-stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { extract, extractChecked } from './extract.ts';
import { ChangedFilesError } from './install.ts';
import { sha256Of } from './source-hash.ts';
import { ArchiveError } from './tar-reader.ts';
import { tarGz } from './tar-writer.ts';

let base: string;
let target: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'headrace extract '));
  target = join(base, 'my site');
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

type Files = Record<string, string>;

/** As the service packs them; names that end with `*` are executable. */
function archiveOf(files: Files): Promise<Buffer> {
  const list = Object.entries(files).map(([name, content]) => ({
    path: name.replace(/\*$/, ''),
    executable: name.endsWith('*'),
    byteSize: Buffer.byteLength(content),
    content: Buffer.from(content),
  }));
  return buffer(tarGz(list, ({ content }) => content));
}

/** Any archive. */
async function hostile(entries: (Partial<Header> & { name: string; content?: string })[]): Promise<Buffer> {
  const tar = pack();
  for (const { content = '', ...headers } of entries) tar.entry(headers, content);
  tar.finalize();
  return gzipSync(await buffer(tar));
}

function write(files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), content);
  }
}

/** Every file below the folder that holds the target; links and folders too. */
const everything = () =>
  readdirSync(base, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(base, join(entry.parentPath, entry.name)))
    .sort();

const known = (files: Files) =>
  new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      { path, executable: false, byteSize: content.length, sha256: sha256Of(Buffer.from(content)) },
    ]),
  );
const LIMITS = { files: 10, bytes: 1000 };
const UNCHECKED = { limits: LIMITS, check: () => {} };

test('a missing folder is made with all files and their modes, long names too', async () => {
  const long = `${'folder/'.repeat(40)}naïve.html`;
  const archive = await archiveOf({ 'a.txt': 'a', 'bin/run*': '#!', [long]: 'x'.repeat(2000), empty: '' });
  const { written } = await extract(archive, target);
  expect(written).toEqual(['a.txt', 'bin/run', long, 'empty']);
  expect(readFileSync(join(target, long), 'utf8')).toBe('x'.repeat(2000));
  const modes = ['a.txt', 'bin/run'].map((path) => statSync(join(target, path)).mode & 0o100);
  expect(modes).toEqual([0, 0o100]);
  expect(everything()).toEqual(written.map((path) => `my site/${path}`).sort());
});

test.each<[name: string, entries: Parameters<typeof hostile>[0], message: string]>([
  [
    'a path that leaves the folder',
    [{ name: 'ok' }, { name: '../x', content: 'x' }],
    '"../x" must not contain',
  ],
  ['an absolute path', [{ name: '/etc/x' }], '"/etc/x" must be relative'],
  ['a backslash', [{ name: 'a\\..\\b' }], 'must not contain a backslash'],
  ['a reserved name', [{ name: 'sub/.git/config' }], 'must not use a reserved name'],
  ['a symlink', [{ name: 'a', type: 'symlink', linkname: '/etc' }], '"a" is not a regular file'],
  [
    'a file through a link',
    [{ name: 'a', type: 'symlink', linkname: '/tmp' }, { name: 'a/x' }],
    'not a regular file',
  ],
  ['a hard link', [{ name: 'a' }, { name: 'b', type: 'link', linkname: 'a' }], '"b" is not a regular file'],
  ['a pipe', [{ name: 'a', type: 'fifo' }], '"a" is not a regular file'],
  ['names that differ in case', [{ name: 'A/b' }, { name: 'a/B' }], '"a/B" is there twice'],
  ['a file at a folder', [{ name: 'a/b' }, { name: 'A' }], '"A" is a folder of another file'],
  ['a folder at a file', [{ name: 'a' }, { name: 'a/b/c' }], '"a/b/c" lies below another file'],
  ['too many files', Array.from({ length: 11 }, (_, i) => ({ name: String(i) })), 'more than 10 files'],
  ['too many bytes', [{ name: 'a', content: 'x'.repeat(1001) }], 'more than 1000 bytes'],
])('%s in an archive is refused, and nothing is written', async (_, entries, message) => {
  write({ 'a.txt': 'mine' });
  const extraction = extractChecked(await hostile(entries), target, { ...UNCHECKED, force: true });
  await expect(extraction).rejects.toThrow(message);
  await expect(extraction).rejects.toBeInstanceOf(ArchiveError);
  expect(everything()).toEqual(['my site/a.txt']);
});

test('a name may be longer than all contents', async () => {
  const archive = await archiveOf({ 'ein Ordner/日本語.txt': 'a', 'b.txt': '' });
  const { written } = await extractChecked(archive, target, { ...UNCHECKED, limits: { files: 2, bytes: 1 } });
  expect(written).toEqual(['ein Ordner/日本語.txt', 'b.txt']);
});

test('a small archive that inflates without end is refused at its limit', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const zeros = extractChecked(bomb, target, UNCHECKED);
  await expect(zeros).rejects.toThrow('inflates to more than its files may contain');
  expect(everything()).toEqual([]);
});

test('an archive is refused when it is damaged anywhere', async () => {
  const archive = await archiveOf({ a: 'a'.repeat(600), b: 'b' });
  await expect(extract(archive.subarray(0, -1), target)).rejects.toThrow('damaged or cut off');
  const flipped = Buffer.from(archive);
  flipped[flipped.length - 6]! ^= 1;
  await expect(extract(flipped, target)).rejects.toThrow('damaged or cut off');
  await expect(extract(Buffer.from('no gzip'), target)).rejects.toThrow('damaged or cut off');
  await expect(extract(gzipSync(Buffer.alloc(100, 1)), target)).rejects.toThrow('ends too early');
  await expect(extract(gzipSync(Buffer.alloc(600, 1)), target)).rejects.toThrow('damaged');
  expect(everything()).toEqual([]);
});

test('files that are there stay if they are the same or not in the archive', async () => {
  write({ 'a.txt': 'a', '.env': 'mine', 'sub/b.txt': 'b' });
  const result = await extract(
    await archiveOf({ 'a.txt': 'a', 'sub/b.txt*': 'b', 'new/c.txt': 'c' }),
    target,
  );
  expect(result).toEqual({
    written: ['sub/b.txt', 'new/c.txt'],
    replaced: ['sub/b.txt'],
    deleted: [],
    unchanged: 1,
  });
  expect(statSync(join(target, 'sub/b.txt')).mode & 0o100).toBe(0o100);
  expect(everything()).toEqual(['my site/.env', 'my site/a.txt', 'my site/new/c.txt', 'my site/sub/b.txt']);
});

test('changed files are never replaced without force, which replaces files and links but no folder', async () => {
  write({ 'a.txt': 'mine', 'b/x': 'mine', 'c/d': 'mine' });
  mkdirSync(join(base, 'elsewhere'));
  symlinkSync('../elsewhere', join(target, 'link'));
  symlinkSync('a.txt', join(target, 'e'));
  const archive = await archiveOf({ 'a.txt': 'a', b: 'b', 'c/d/e': 'e', e: 'e', 'link/f': 'f', g: 'g' });
  const error = await extract(archive, target).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ChangedFilesError);
  expect([...(error as ChangedFilesError).paths].sort()).toEqual(['a.txt', 'b', 'c/d', 'e', 'link']);
  await expect(extract(archive, target, { force: true })).rejects.toThrow('different content at "b"');
  expect(readFileSync(join(target, 'a.txt'), 'utf8')).toBe('mine');
  rmSync(join(target, 'b'), { recursive: true });
  await extract(archive, target, { force: true });
  expect(everything()).toEqual(['a.txt', 'b', 'c/d/e', 'e', 'g', 'link/f'].map((path) => `my site/${path}`));
  expect(readFileSync(join(target, 'a.txt'), 'utf8')).toBe('a');
});

test('files from an earlier write are replaced or deleted, unless they have changed', async () => {
  const before = { 'a.txt': 'a1', 'b.txt': 'b1', 'old/c.txt': 'c1', 'old/d.txt': 'd1', 'gone/x': 'x' };
  write({ ...before, 'old/d.txt': 'mine', 'b.txt': 'b2' });
  const archive = await archiveOf({ 'a.txt': 'a2', 'b.txt': 'b2' });
  const result = await extractChecked(archive, target, { ...UNCHECKED, known: known(before) });
  expect(result).toEqual({
    written: ['a.txt'],
    replaced: ['a.txt'],
    deleted: ['old/c.txt', 'gone/x'],
    unchanged: 1,
  });
  expect(everything()).toEqual(['my site/a.txt', 'my site/b.txt', 'my site/old/d.txt']);
  expect(existsSync(join(target, 'gone'))).toBe(false);
  write({ 'a.txt': 'mine' });
  await expect(
    extractChecked(await archiveOf({ 'a.txt': 'a3' }), target, {
      ...UNCHECKED,
      known: known({ 'a.txt': 'a2' }),
    }),
  ).rejects.toThrow('different content at "a.txt"');
});

test('a failed check or an abort leaves nothing in the folder', async () => {
  const archive = await archiveOf({ a: 'a' });
  const failing = extractChecked(archive, target, {
    limits: LIMITS,
    check: (files) => {
      throw new Error(`${files.length} file of ${files[0]!.byteSize} byte`);
    },
  });
  await expect(failing).rejects.toThrow('1 file of 1 byte');
  await expect(extract(archive, target, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
    'enough',
  );
  expect(everything()).toEqual([]);
});

/** Extracts in a process of its own; with `stall` the archive never ends. */
const EXTRACT = `
  const [folder, file, target, stall] = process.argv.slice(1);
  const { extract } = await import(folder + '/extract.ts');
  const { readFileSync } = await import('node:fs');
  async function* archive() {
    const bytes = readFileSync(file);
    if (!stall) return yield bytes;
    yield bytes.subarray(0, -20);
    setTimeout(() => {}, 60_000);
    console.log('half');
    await new Promise(() => {});
  }
  await extract(archive(), target).catch((error) => console.log(error.code));`;
const inProcess = (file: string) => ['--input-type=module', '-e', EXTRACT, import.meta.dirname, file, target];

/** Watches a path until it is stopped, and reports whether the file was ever missing. */
const WATCH = `
  const { parentPort, workerData: { file, stop } } = require('node:worker_threads');
  const { existsSync } = require('node:fs');
  let isMissed = false;
  parentPort.postMessage('begins');
  while (Atomics.load(stop, 0) === 0) isMissed ||= !existsSync(file);
  parentPort.postMessage(isMissed);`;

test('a file that is replaced by force is there at every moment', async () => {
  const files = (content: string) =>
    Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`${i + 1_000}.txt`, content]));
  write(files('mine'));
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const watch = new Worker(WATCH, { eval: true, workerData: { file: join(target, '1999.txt'), stop } });
  await once(watch, 'message');
  const isMissed = once(watch, 'message');
  await extract(await archiveOf(files('theirs')), target, { force: true });
  Atomics.store(stop, 0, 1);
  expect(await isMissed).toEqual([false]);
});

test('a full disk leaves the folder as it was', async () => {
  write({ 'a.txt': 'mine' });
  const file = join(base, 'archive');
  writeFileSync(file, await archiveOf({ 'b.txt': 'b', 'big.txt': 'x'.repeat(100_000) }));
  // A limit of the size of files fails as a full disk does; its signal would end the process.
  const { stdout, stderr } = spawnSync('sh', [
    '-c',
    `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`,
    process.execPath,
    ...inProcess(file),
  ]);
  expect(stderr.toString()).toBe('');
  expect(stdout.toString()).toBe('EFBIG\n');
  rmSync(file);
  expect(everything()).toEqual(['my site/a.txt']);
});

test('a killed process leaves the folder as it was, and its remains go later', async () => {
  write({ 'a.txt': 'mine' });
  const archive = await archiveOf({ 'b.txt': 'b', 'c.txt': 'c'.repeat(300_000) });
  const file = join(base, 'archive');
  writeFileSync(file, archive);
  const child = spawn(process.execPath, [...inProcess(file), 'stall']);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  rmSync(file);
  const [remains] = readdirSync(target).filter((name) => name.startsWith('.headrace-'));
  expect(readFileSync(join(target, remains!, '.gitignore'), 'utf8')).toBe('*\n');
  expect(readdirSync(target).sort()).toEqual([remains, 'a.txt']);
  const similar = ['.headrace-notes', '.headrace-extract-notes-of-mine'];
  for (const name of similar) mkdirSync(join(target, name));
  const longAgo = Date.now() / 1000 - 2 * 60 * 60;
  for (const name of [remains!, ...similar]) utimesSync(join(target, name), longAgo, longAgo);
  await extract(archive, target);
  expect(everything()).toEqual(['my site/a.txt', 'my site/b.txt', 'my site/c.txt']);
  expect(readdirSync(target).sort()).toEqual([...similar.toSorted(), 'a.txt', 'b.txt', 'c.txt']);
});
