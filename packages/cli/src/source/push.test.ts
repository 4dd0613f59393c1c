import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestService } from '@headrace/client/testing';
import { expect, onTestFinished, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import { linkedFolder, writeFiles } from './source.fixture.ts';

const TIME = /[\d.]+ m?s/g;

test('the first push becomes the head; the next sends changes only; an unchanged one sends nothing', async () => {
  const { run, folder } = await linkedFolder({
    'a.txt': 'a',
    'src/b.ts': 'b',
    'bin/run': '#!',
    'old.txt': 'old',
  });
  const first = await run(['push', '-m', 'First']);
  const id = first.stdout.trim();
  expect([first.exit, first.stderr.replace(TIME, 'T')]).toEqual([
    0,
    'Pushed 5 files, 47 B in T. It is the head now.\n',
  ]);
  writeFiles(folder, { 'src/b.ts': 'changed', 'c d.txt': 'new' });
  rmSync(join(folder, 'a.txt'));
  const second = await run(['push', '--json']);
  expect(second.json()).toMatchObject({
    ok: true,
    source: { parentSourceIds: [id], fileCount: 5 },
    warnings: [],
    sent: 'changes',
    bytesSent: 10,
  });
  expect(second.stderr.replace(TIME, 'T')).toBe(
    'Pushed 1 added, 1 modified, 1 deleted of 5 files, 10 B in T.\n',
  );
  const third = await run(['push']);
  const newest = second.json().source.id as string;
  expect([third.stdout, third.stderr.replace(TIME, 'T')]).toEqual([
    `${newest}\n`,
    `Nothing has changed since ${newest} (5 files, T).\n`,
  ]);
  // The head is moved by applies.
  expect((await run(['apps', 'show', '--json'])).json().app.headSourceId).toBe(id);
});

test('a dry run lists changes and all that is skipped, and sends nothing', async () => {
  const service = createTestService();
  const { run, folder } = await linkedFolder({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' }, service);
  await run(['push']);
  writeFiles(folder, {
    'a.txt': 'A',
    'new.txt': 'b',
    '.gitignore': '*.log\n/build/\n',
    'x.log': '',
    'build/out': '',
    'sub/.gitignore': '!keep.log\nsecret',
    'sub/keep.log': '',
    'sub/secret': '',
    'node_modules/x/index.js': '',
  });
  for (const path of ['b.txt', 'c.txt']) rmSync(join(folder, path));
  symlinkSync('a.txt', join(folder, 'inside'));
  symlinkSync('/etc', join(folder, 'outside\u001b[2J'));
  const before = service.requests.filter(({ method }) => method !== 'GET').length;
  const { exit, stdout, stderr } = await run(['push', '--dry-run']);
  expect([exit, stdout]).toEqual([
    0,
    'R\tb.txt\tnew.txt\nD\tc.txt\nA\t.gitignore\nM\ta.txt\nA\tsub/.gitignore\nA\tsub/keep.log\n',
  ]);
  expect(stderr).toBe(
    [
      'Skipped inside (symlink)',
      'Skipped node_modules (dependency folder)',
      'Skipped outside␛[2J (symlink)',
      '3 added, 1 modified, 1 renamed, 1 deleted of 6 files: 31 B would be sent.\n',
    ].join('\n'),
  );
  expect(service.requests.filter(({ method }) => method !== 'GET')).toHaveLength(before);
  const document = (await run(['push', '--dry-run', '--json'])).json();
  expect(document).toMatchObject({ ok: true, send: 'changes', bytesToSend: 31 });
  expect(document.changes[0]).toEqual({ path: 'new.txt', oldPath: 'b.txt', status: 'renamed' });
});

test('what cannot be pushed is refused with 2 and what is right, and nothing is sent', async () => {
  const service = createTestService();
  const { run, folder } = await linkedFolder({ 'a.txt': 'a' }, service);
  mkdirSync(join(folder, 'empty/sub'), { recursive: true });
  writeFiles(folder, { 'ignored/.gitignore': '*', 'ignored/a': '', 'bad/con\ntrol': '' });
  writeFiles(folder, { 'large/big': '' });
  truncateSync(join(folder, 'large/big'), 8 * 1024 * 1024 + 1);
  const cases: [string[], string][] = [
    [['none'], `There is no folder ${folder}/none.`],
    [['a.txt'], `${folder}/a.txt is a file. Name the folder that holds it.\n  → headrace push ${folder}`],
    [['empty'], `${folder}/empty has no files to push: it is empty, or everything in it is ignored.`],
    [['ignored'], `${folder}/ignored has no files to push: it is empty, or everything in it is ignored.`],
    [['bad'], 'must not contain control characters'],
    [['large'], '"big" must not be larger than 8 MiB'],
    [['--watch', '--dry-run'], '--watch and --dry-run exclude each other.'],
  ];
  for (const [argv, message] of cases) {
    const { exit, stdout, stderr } = await run(['push', ...argv]);
    expect([exit, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
  }
  const { exit, json } = await run(['push', '--watch', '--json']);
  expect([exit, json().error.message]).toEqual([2, expect.stringContaining('use --jsonl')]);
  expect(service.requests.filter(({ operation }) => operation === 'sources.import')).toEqual([]);
});

test('files that cannot be read are named, and nothing is sent', async () => {
  const { run, folder, cli } = await linkedFolder({ 'a.txt': 'a', 'secret.txt': 's' });
  chmodSync(join(folder, 'secret.txt'), 0);
  if (process.getuid!() !== 0) {
    const { exit, stderr } = await run(['push']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('"secret.txt" cannot be read: EACCES')]);
    return;
  }
  // Root can read everything, so another process without its rights does it.
  for (const path of [cli.cwd, cli.home]) chmodSync(path, 0o777);
  const script = `
    process.setuid(65534);
    const { plan } = await import('@headrace/client/node');
    await plan(null, 'prj_1', ${JSON.stringify(folder)}).catch((error) => console.log(error.status, error.message));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toContain('400 The files break a rule');
  expect(stdout).toContain('"secret.txt" cannot be read: EACCES');
});

test('without an app, it says what to do', async () => {
  const cli = testCli(createTestService());
  writeFiles(cli.cwd, { 'a.txt': 'a' });
  const { exit, stderr } = await cli.run(['push']);
  expect([exit, stderr]).toEqual([2, expect.stringContaining('→ headrace link APP')]);
});

/** Ctrl-C arrives when the answer to this call is on its way. */
async function cutAt(operation: string) {
  const service = createTestService();
  let isCut = true;
  const folder = await linkedFolder(
    { 'a.txt': 'a' },
    {
      ...service,
      async fetch(input, init) {
        const answer = await service.fetch(input, init);
        if (!isCut || service.requests.at(-1)!.operation !== operation) return answer;
        isCut = false;
        folder.cli.interrupt();
        throw new TypeError('cut');
      },
    },
  );
  return { service, ...folder };
}

test.each(['sources.import', 'head.initialize'])(
  'interrupted at %s and run again, a push happens once',
  async (at) => {
    const { run } = await cutAt(at);
    expect((await run(['push', '-m', 'One'])).exit).toBe(130);
    const again = await run(['push', '-m', 'One']);
    expect([again.exit, again.stderr]).toEqual([0, expect.stringContaining('Continuing the same command')]);
    const { sources } = (await run(['log', '--sources', '--json'])).json();
    expect(sources.map(({ id }: { id: string }) => id)).toEqual([again.stdout.trim()]);
    expect((await run(['log', '--json'])).json().heads).toHaveLength(1);
  },
);

test('interrupted and changed, the push is another one', async () => {
  const { run, folder } = await cutAt('sources.import');
  expect((await run(['push'])).exit).toBe(130);
  writeFiles(folder, { 'a.txt': 'b' });
  expect((await run(['push'])).exit).toBe(0);
  expect((await run(['log', '--sources', '--json'])).json().sources).toHaveLength(2);
  expect((await run(['cat', 'a.txt'])).stdout).toBe('b');
});

test('--no-head leaves the app without one; --parent names what is compared', async () => {
  const { run, folder } = await linkedFolder({ 'a.txt': 'a' });
  const first = (await run(['push', '--no-head'])).stdout.trim();
  expect((await run(['files'])).stderr).toContain(
    'The app has no head yet.\n  → Push a folder first: headrace push',
  );
  writeFiles(folder, { 'a.txt': 'b' });
  await run(['push', '--no-head']);
  const third = await run(['push', '--no-head', '--parent', first, '--json']);
  expect(third.json().source.parentSourceIds).toEqual([first]);
  const missing = await run(['push', '--parent', 'src_99999999']);
  expect([missing.exit, missing.stderr]).toEqual([5, expect.stringContaining('There is no source')]);
});

test('a head that has moved is named until it is pulled, and the version before can be brought back', async () => {
  const service = createTestService();
  const { run, folder, appId } = await linkedFolder({ 'a.txt': 'a' }, service);
  await run(['push']);
  service.moveHead(appId, { 'b.txt': 'b' });
  writeFiles(folder, { 'c.txt': 'c' });
  expect((await run(['push'])).stderr).toContain('The head has moved, and this source lacks its changes.');
  const pulled = await run(['pull']);
  expect([pulled.stdout, pulled.stderr]).toEqual([
    'A\tb.txt\nD\tc.txt\n',
    expect.stringContaining('brings back'),
  ]);
  expect(readdirSync(folder).sort()).toEqual(['.headrace.json', 'a.txt', 'b.txt']);
  writeFiles(folder, { 'd.txt': 'd' });
  expect((await run(['push'])).stderr).not.toContain('The head has moved');
});

test('a state folder that cannot be written ends no push', async () => {
  const { run, cli } = await linkedFolder({ 'a.txt': 'a' });
  mkdirSync(join(cli.home, '.local/state/headrace'), { recursive: true });
  writeFileSync(join(cli.home, '.local/state/headrace/folders'), 'a file');
  const { exit, stdout, stderr } = await run(['push']);
  expect([exit, stdout]).toEqual([0, expect.stringMatching(/^src_/)]);
  expect(stderr).toContain('Which source the folder holds could not be noted');
});

test('10,000 files are pushed, and no more', async () => {
  const files = Array.from({ length: 10_000 }, (_, i) => [`d${i % 50}/${i}.txt`, `${i}`] as const);
  const { run } = await linkedFolder({});
  // Memory, where there is such a folder: a disk takes seconds to make so many files.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'headrace many '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFiles(folder, Object.fromEntries(files));
  expect((await run(['push', folder])).stderr).toContain('Pushed 10000 files, 38 KiB');
  writeFiles(folder, { 'd1/one more.txt': '' });
  const { exit, stderr } = await run(['push', folder]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining('A source holds at most 10000 files.')]);
});
