/** Folders that the client pushes and pulls, with the real service. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { createClient } from '@headrace/client';
import type { Client } from '@headrace/client';
import { plan, pull, push } from '@headrace/client/node';
import type { Progress } from '@headrace/client/node';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import * as clientPaths from '../../../client/src/files/paths.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { checkPath, findCollisions, foldPath, isReserved } from '../trees/paths.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());

let base: string;
let folder: string;
let appId: string;
/** The writes of `client`, by content type. */
let writes: string[];
let client: Client;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'headrace folders '));
  folder = join(base, 'my site');
  mkdirSync(folder);
  writes = [];
  client = clientWith((url, init) => fetch(url, init));
  appId = (await client.apps.create({ name: 'Shop' })).id;
  writes.length = 0;
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

function clientWith(send: typeof fetch): Client {
  const recording: typeof fetch = (url, init) => {
    if (init?.method === 'POST') writes.push(new Headers(init.headers).get('content-type')!);
    return send(url, init);
  };
  return createClient({ baseUrl: s.base, key: s.key, fetch: recording });
}

function write(files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

const filesOf = async (sourceId: string) => {
  const files: [string, string, boolean][] = [];
  for await (const { path, executable } of client.sources.files(appId, sourceId)) {
    const { content } = await client.sources.file(appId, sourceId, { path });
    files.push([path, content, executable]);
  }
  return files;
};
/** Every file below a folder. */
const listed = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
const lines = (count: number, text: string) =>
  Array.from({ length: count }, (_, i) => `${i} ${text}\n`).join('');

test('the first push is the head, an unchanged one sends nothing, and a later one what has changed', async () => {
  write({
    '.gitignore': 'dist\n',
    'a b/ü.txt': 'ü\0',
    'bin/run': '#!/bin/sh\n',
    'dist/x': '',
    'logo.png': Buffer.from([0x89, 0xff, 0]),
    'moved.txt': lines(100, 'moved'),
    'gone.txt': 'gone',
    'mode.sh': 'x',
  });
  chmodSync(join(folder, 'bin/run'), 0o755);
  symlinkSync('a b', join(folder, 'link'));
  const first = await push(client, appId, folder, { message: 'First' });
  expect(first).toMatchObject({
    origin: 'import',
    message: 'First',
    parentSourceIds: [],
    sent: 'files',
    skipped: [{ path: 'link', reason: 'symlink' }],
  });
  expect(await filesOf(first.id)).toEqual([
    ['.gitignore', 'dist\n', false],
    ['a b/ü.txt', 'ü\0', false],
    ['bin/run', '#!/bin/sh\n', true],
    ['gone.txt', 'gone', false],
    ['logo.png', 'if8A', false],
    ['mode.sh', 'x', false],
    ['moved.txt', lines(100, 'moved'), false],
  ]);
  expect((await client.head.get(appId)).sourceId).toBe(first.id);

  writes.length = 0;
  expect(await push(client, appId, folder)).toMatchObject({ id: first.id, sent: 'nothing', bytesSent: 0 });
  expect(writes).toEqual([]);

  write({ 'a b/ü.txt': 'changed', 'new.txt': 'new' });
  renameSync(join(folder, 'moved.txt'), join(folder, 'Moved.txt'));
  rmSync(join(folder, 'gone.txt'));
  chmodSync(join(folder, 'mode.sh'), 0o755);
  const planned = await plan(client, appId, folder);
  expect(planned).toMatchObject({ send: 'changes', bytesToSend: 10, headSourceId: first.id });
  expect(planned.changes.map(({ status, path }) => `${status} ${path}`)).toEqual([
    'renamed Moved.txt',
    'deleted gone.txt',
    'modified a b/ü.txt',
    'mode mode.sh',
    'added new.txt',
  ]);
  expect(writes).toEqual([]);
  const second = await push(client, appId, folder, { message: 'Second' });
  expect(second).toMatchObject({
    sent: 'changes',
    bytesSent: 10,
    parentSourceIds: [first.id],
    message: 'Second',
  });
  expect(await filesOf(second.id)).toEqual([
    ['.gitignore', 'dist\n', false],
    ['Moved.txt', lines(100, 'moved'), false],
    ['a b/ü.txt', 'changed', false],
    ['bin/run', '#!/bin/sh\n', true],
    ['logo.png', 'if8A', false],
    ['mode.sh', 'x', true],
    ['new.txt', 'new', false],
  ]);
  expect((await client.head.get(appId)).sourceId).toBe(first.id);

  writes.length = 0;
  expect(await push(client, appId, folder, { parentSourceId: second.id })).toMatchObject({ id: second.id });
  expect(writes).toEqual([]);
});

test('a push of 10,000 files goes as an archive, and one more file is refused before it is sent', async () => {
  for (let d = 0; d < 100; d++) {
    mkdirSync(join(folder, `d ${d}`));
    for (let i = 0; i < 100; i++)
      writeFileSync(join(folder, `d ${d}/${i}.txt`), `${d} ${i} ${'x'.repeat(110)}\n`);
  }
  const seen: Progress[] = [];
  const source = await push(client, appId, folder, { onProgress: (progress) => seen.push(progress) });
  expect(source).toMatchObject({ fileCount: 10_000, sent: 'files' });
  expect(writes).toEqual(['application/gzip', 'application/json']);
  expect(seen.at(-1)).toEqual({
    phase: 'send',
    files: 10_000,
    bytes: source.byteSize,
    totalFiles: 10_000,
    totalBytes: source.byteSize,
  });
  writes.length = 0;
  write({ 'one more.txt': '' });
  await expect(push(client, appId, folder)).rejects.toMatchObject({
    code: 'invalid_bundle',
    fields: [{ path: '/files', message: 'A source holds at most 10000 files.' }],
  });
  expect(writes).toEqual([]);
}, 60_000);

test('a connection that breaks during an archive is retried with the same bytes', async () => {
  write({ 'big.txt': lines(200_000, 'line'), 'other.txt': 'x' });
  let attempts = 0;
  const flaky = clientWith(async (url, init) => {
    if (new Headers(init?.headers).get('content-type') !== 'application/gzip' || ++attempts > 2)
      return fetch(url, init);
    const reader = (init!.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    throw new TypeError('fetch failed');
  });
  const source = await push(flaky, appId, folder);
  expect(attempts).toBe(3);
  expect(source.fileCount).toBe(2);
  expect((await client.sources.list(appId)).items).toHaveLength(1);
});

test('a file that changes while it is sent ends the push, and nothing is stored', async () => {
  for (const size of [10, 200_000]) {
    write({ 'a.txt': lines(size, 'line') });
    const changing = push(client, appId, folder, {
      onProgress: ({ phase, files }) => {
        if (phase === 'scan' && files === 1) write({ 'a.txt': lines(size, 'LINE') });
      },
    });
    await expect(changing).rejects.toMatchObject({ name: 'FolderChangedError', path: 'a.txt' });
  }
  expect((await client.sources.list(appId)).items).toEqual([]);
});

test('two concurrent first pushes both succeed; one of them is the head', async () => {
  write({ 'a.txt': 'a' });
  const other = join(base, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'b.txt'), 'b');
  const sources = await Promise.all([push(client, appId, folder), push(client, appId, other)]);
  expect(sources.map(({ id }) => id)).toContain((await client.head.get(appId)).sourceId);
});

test('the head can be left alone', async () => {
  write({ 'a.txt': 'a' });
  await push(client, appId, folder, { initializeHead: false });
  expect((await client.apps.get(appId)).headSourceId).toBeNull();
});

test('an unknown parent and an unknown app are the errors of the service', async () => {
  write({ 'a.txt': 'a' });
  const { id } = await push(client, appId, folder);
  await expect(push(client, appId, folder, { parentSourceId: id.slice(0, -4) })).rejects.toMatchObject({
    code: 'source_not_found',
  });
  await expect(push(client, id, folder)).rejects.toMatchObject({ code: 'app_not_found' });
});

test('what the client refuses, the service refuses in the same words at the same places', async () => {
  const long = 'd/'.repeat(512) + 'x';
  const names = [
    'A.txt',
    'a.TXT',
    'Docs',
    'docs/x',
    'caf\u00e9',
    'cafe\u0301',
    'b\\c',
    'c\td',
    'C:x',
    'e\u0085',
  ];
  write(Object.fromEntries([...names, 'ok.txt', long].map((path) => [path, ''])));
  write({ large: '' });
  truncateSync(join(folder, 'large'), 8 * 1024 * 1024 + 1);
  const error = (await push(client, appId, folder).catch((e: unknown) => e)) as {
    code: string;
    fields: unknown[];
  };
  expect(writes).toEqual([]);
  const files = [...names, 'ok.txt', long, 'large']
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map((path) => ({ path, content: path === 'large' ? 'x'.repeat(8 * 1024 * 1024 + 1) : '' }));
  const { body } = await s.call('POST', `/api/platform/v1/apps/${appId}/sources`, { files });
  expect(error.code).toBe('invalid_bundle');
  expect(error.fields).toHaveLength(9);
  expect(error.fields).toEqual(body.error.fields);
});

/** Each breaks a rule, or is just within it. */
const HOSTILE = [
  '../up',
  'a/../b',
  './a',
  '/etc/passwd',
  'a//b',
  'a/',
  'C:/a',
  'c:a',
  'a\\b',
  'a\0b',
  'a\u0085',
  'a\u2028b',
  '.git/config',
  'a/.GIT/config',
  '.git ',
  '.git...',
  '.g\u200cit',
  '\ufeff.git',
  'GIT~1',
  'git~2',
  '.gitignore',
  '.context/x',
  '.Hoplite',
  '.hoplite2',
  '\u212aelvin',
  'stra\u00dfe',
  'STRASSE',
  'e\u0301',
  '\u00e9',
  '\u0130',
  'i\u0307',
  '\ud83d\ude00',
  '\ud83d',
  '\ude00',
  'x'.repeat(255),
  '\u00e9'.repeat(127),
  '\u00e9'.repeat(128),
  `${'\ud83d\ude00/'.repeat(511)}ab`,
  `${'\ud83d\ude00/'.repeat(512)}ab`,
  'Docs/a',
  'docs/b',
  'docs',
  'DOCS/A',
];

test('the client knows the rules for paths, at each of their edges', () => {
  for (const path of HOSTILE) {
    expect([path, clientPaths.checkPath(path)]).toEqual([path, checkPath(path)]);
    expect([path, clientPaths.foldPath(path)]).toEqual([path, foldPath(path)]);
    expect([path, path.split('/').map(clientPaths.isReserved)]).toEqual([
      path,
      path.split('/').map(isReserved),
    ]);
  }
  const good = HOSTILE.filter((path) => checkPath(path) === null);
  expect(good.length).toBeGreaterThan(10);
  expect(clientPaths.findCollisions(good)).toEqual(findCollisions(good));
});

test('the client knows the rules for paths, whatever they are', () => {
  const special = [
    '.git',
    '.CONTEXT',
    'git~1',
    '.g\u200bit',
    '.',
    '..',
    '',
    'C:',
    '\\',
    '\ud800',
    'x'.repeat(256),
    'é',
    'ß',
  ];
  const part = fc.oneof(
    fc.constantFrom(...special, 'a', 'A', 'e\u0301'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(fc.array(path, { maxLength: 8 }), (paths) => {
      for (const one of paths) {
        expect(clientPaths.checkPath(one)).toBe(checkPath(one));
        expect(one.split('/').map(clientPaths.isReserved)).toEqual(one.split('/').map(isReserved));
      }
      const good = paths.filter((one) => checkPath(one) === null);
      expect(clientPaths.findCollisions(good)).toEqual(findCollisions(good));
    }),
    { numRuns: 1000 },
  );
});

test('a push ends with its signal', async () => {
  write({ 'a.txt': 'a' });
  const end = new AbortController();
  const reason = new Error('enough');
  const onProgress = ({ phase }: Progress) => phase === 'send' && end.abort(reason);
  await expect(push(client, appId, folder, { signal: end.signal, onProgress })).rejects.toBe(reason);
  expect((await client.sources.list(appId)).items).toEqual([]);
});

test('a pulled folder has the pushed files and modes, and follows the app until it is changed locally', async () => {
  write({ 'a b.txt': 'a1', 'bin/run': '#!', 'old/gone.txt': 'g', 'c.txt': 'c1' });
  chmodSync(join(folder, 'bin/run'), 0o755);
  const first = await push(client, appId, folder);
  const copy = join(base, 'new folder/copy');
  const { source, written } = await pull(client, appId, { folder: copy });
  expect(source).toMatchObject({ id: first.id });
  expect(written).toEqual(listed(folder));
  expect(listed(copy)).toEqual(listed(folder));
  expect(statSync(join(copy, 'bin/run')).mode & 0o100).toBe(0o100);

  write({ 'a b.txt': 'a2', 'c.txt': 'c2' });
  rmSync(join(folder, 'old'), { recursive: true });
  const second = await push(client, appId, folder);
  writeFileSync(join(copy, 'notes.md'), 'mine');
  await expect(pull(client, appId, { folder: copy, sourceId: second.id })).rejects.toMatchObject({
    name: 'ChangedFilesError',
    paths: ['a b.txt', 'c.txt'],
  });
  const from = { folder: copy, sourceId: second.id, baseSourceId: first.id };
  expect(await pull(client, appId, from)).toMatchObject({
    written: ['a b.txt', 'c.txt'],
    deleted: ['old/gone.txt'],
    unchanged: 1,
  });
  expect(listed(copy)).toEqual(['a b.txt', 'bin/run', 'c.txt', 'notes.md']);
  writeFileSync(join(copy, 'c.txt'), 'mine');
  await expect(pull(client, appId, { folder: copy })).rejects.toMatchObject({ paths: ['a b.txt', 'c.txt'] });
  await pull(client, appId, { folder: copy, force: true });
  expect(readFileSync(join(copy, 'c.txt'), 'utf8')).toBe('c1');
});

test('an app without a head has nothing to pull', async () => {
  await expect(pull(client, appId, { folder })).rejects.toMatchObject({ code: 'head_not_initialized' });
});
