import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HeadraceError } from '../errors.ts';
import { scanFolder } from './scan.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headrace scan '));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');

async function refusal(): Promise<Pick<HeadraceError, 'status' | 'code' | 'fields' | 'message'>> {
  const error = await scanFolder(folder).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(HeadraceError);
  return error as HeadraceError;
}

test('files come with sizes, modes and hashes, in order of their bytes', async () => {
  write({ 'b c.txt': 'b', 'a/ü.txt': 'ü', 'a.txt': '', '\uff5e': 'x', '😀': 'y' });
  chmodSync(join(folder, 'b c.txt'), 0o755);
  const { files, byteSize, sha256: whole } = await scanFolder(folder);
  expect(files).toEqual([
    { path: 'a.txt', byteSize: 0, executable: false, sha256: sha256('') },
    { path: 'a/ü.txt', byteSize: 2, executable: false, sha256: sha256('ü') },
    { path: 'b c.txt', byteSize: 1, executable: true, sha256: sha256('b') },
    { path: '\uff5e', byteSize: 1, executable: false, sha256: sha256('x') },
    { path: '😀', byteSize: 1, executable: false, sha256: sha256('y') },
  ]);
  expect(byteSize).toBe(5);
  const lines = files.map((f) => `${f.executable ? '0755' : '0644'} ${f.sha256} ${f.byteSize} ${f.path}\n`);
  expect(whole).toBe(sha256(lines.join('')));
});

test('links, pipes, reserved names and dependency folders are left out and named', async () => {
  write({
    'a.txt': 'a',
    '.git/config': '',
    'sub/.Context': '',
    'git~1': '',
    'sub/node_modules/x/index.js': '',
    '.venv/bin/python': '',
    venv: 'a file of that name is a file',
    'kept/.gitignore': '!node_modules/',
    'kept/node_modules/x.js': '',
    'left/.gitignore': '*',
    'left/node_modules/x.js': '',
  });
  symlinkSync('a.txt', join(folder, 'link'));
  symlinkSync('/etc', join(folder, 'sub/etc'));
  symlinkSync('nowhere', join(folder, 'left/link'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  mkdirSync(join(folder, 'empty'));
  const { files, folders, skipped } = await scanFolder(folder);
  expect(folders.sort()).toEqual(['', 'empty/', 'kept/', 'kept/node_modules/', 'left/', 'sub/']);
  expect(files.map(({ path }) => path)).toEqual([
    'a.txt',
    'kept/.gitignore',
    'kept/node_modules/x.js',
    'venv',
  ]);
  expect(skipped).toEqual([
    { path: '.git', reason: 'reserved name' },
    { path: '.venv', reason: 'dependency folder' },
    { path: 'git~1', reason: 'reserved name' },
    { path: 'link', reason: 'symlink' },
    { path: 'pipe', reason: 'not a regular file' },
    { path: 'sub/.Context', reason: 'reserved name' },
    { path: 'sub/etc', reason: 'symlink' },
    { path: 'sub/node_modules', reason: 'dependency folder' },
  ]);
});

test('what a source cannot hold is refused with every place, and nothing else', async () => {
  write({ 'README.md': '', 'readme.MD': '', 'a\\b': '', 'c\nd': '', 'ok.txt': '' });
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x66, 0xff])]), '');
  write({ big: '' });
  truncateSync(join(folder, 'big'), 8 * 1024 * 1024 + 1);
  const { status, code, fields, message } = await refusal();
  expect([status, code]).toEqual([400, 'invalid_bundle']);
  expect(message).toContain('"big" must not be larger than 8 MiB');
  expect(fields).toEqual([
    { path: '/files/1/path', message: '"a\\b" must not contain a backslash' },
    { path: '/files/2/content', message: '"big" must not be larger than 8 MiB' },
    { path: '/files/3/path', message: '"c\\u000ad" must not contain control characters' },
    { path: '/files/4/path', message: '"f\ufffd" must be UTF-8' },
    { path: '/files/6/path', message: '"readme.MD" is the path of an earlier file (ignoring case)' },
  ]);
});

test('more than 32 MiB are refused without reading on', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    write({ [name]: '' });
    truncateSync(join(folder, name), 8 * 1024 * 1024);
  }
  expect((await refusal()).fields).toEqual([
    { path: '/files', message: 'A source holds at most 32 MiB in all.' },
  ]);
});

test('what cannot be read is named with the rest', async () => {
  write({ 'a.txt': '', 'secret.txt': 'x', 'closed/b.txt': '' });
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'secret.txt'), 0);
  chmodSync(join(folder, 'closed'), 0);
  // Root can read everything.
  const script = `
    const { scanFolder } = await import(${JSON.stringify(join(import.meta.dirname, 'scan.ts'))});
    if (process.getuid() === 0) process.setuid(65534);
    await scanFolder(${JSON.stringify(folder)}).catch((error) => console.log(JSON.stringify(error.fields)));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(JSON.parse(stdout)).toEqual([
    { path: '/files', message: '"closed/" cannot be read: EACCES' },
    { path: '/files/1/content', message: '"secret.txt" cannot be read: EACCES' },
  ]);
});

test('a folder that is not there, or is a file, is an error of the file system', async () => {
  write({ file: '' });
  await expect(scanFolder(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(scanFolder(join(folder, 'file'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test('a scan reports what it has read, leaves the event loop its turns, and ends with its signal', async () => {
  write(Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`d${i % 7}/${i}`, `file ${i}`])));
  let [turns, last] = [0, 0];
  const turning = setInterval(() => turns++, 1);
  await scanFolder(folder, { onFile: (files) => (last = files) });
  clearInterval(turning);
  expect(last).toBe(3000);
  expect(turns).toBeGreaterThan(1);
  const end = new AbortController();
  const reason = new Error('enough');
  await expect(
    scanFolder(folder, { signal: end.signal, onFile: (files) => files === 100 && end.abort(reason) }),
  ).rejects.toBe(reason);
});

test('what takes the place of a file meanwhile is neither followed nor waited for', async () => {
  write({ a: 'a', b: 'b', c: 'c', d: 'd' });
  const { files, skipped } = await scanFolder(folder, {
    onFile: (count) => {
      if (count > 1) return;
      for (const name of ['b', 'c', 'd']) rmSync(join(folder, name));
      symlinkSync('/etc/passwd', join(folder, 'b'));
      execFileSync('mkfifo', [join(folder, 'c')]);
    },
  });
  expect(files.map(({ path }) => path)).toEqual(['a']);
  expect(skipped).toEqual([
    { path: 'b', reason: 'symlink' },
    { path: 'c', reason: 'not a regular file' },
  ]);
});
