/** On a real service, which makes the patches. */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createClient } from '@headrace/client';
import { startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ptyTest, terminal } from '../cli.pty.fixture.ts';
import { linkedFolder, writeFiles } from './source.fixture.ts';

let server: TestServer;
let service: { url: string; key: string };
beforeAll(async () => {
  server = await startTestServer({ HEADRACE_ROLES: 'api' });
  service = { url: server.base, key: server.key };
}, 60_000);
afterAll(() => server.close());

const BEFORE = {
  'a.ts': 'const total = count + 1;\n',
  'moved from.txt': 'one\ntwo\nthree\n',
  'bin/run': '#!/bin/sh\n',
  'gone.txt': 'gone\n',
  'logo.png': Buffer.from([0, 1, 2]),
};

/** A folder whose pushed version differs from the head in every way. */
async function changed() {
  const linked = await linkedFolder(BEFORE, service);
  const { run, folder } = linked;
  const first = (await run(['push'])).stdout.trim();
  writeFiles(folder, {
    'a.ts': 'const total = size + 1;\n',
    'src/moved to.txt': 'one\ntwo\nthree\n',
    'src/new\u202e.txt': 'a\u001b[2Jb\n',
    'logo.png': Buffer.from([0, 1, 3]),
    'src/void': '',
  });
  for (const path of ['moved from.txt', 'gone.txt']) rmSync(join(folder, path));
  chmodSync(join(folder, 'bin/run'), 0o644);
  const second = (await run(['push'])).stdout.trim();
  return { first, second, ...linked };
}

test('the patches of a pipe are those that git applies', async () => {
  const { run, first, cli, folder } = await changed();
  const { exit, stdout, stderr } = await run(['diff']);
  expect([exit, stderr]).toEqual([0, '']);
  expect(stdout).toContain('-const total = count + 1;\n+const total = size + 1;\n');
  expect(stdout).toContain('rename from moved from.txt\nrename to src/moved to.txt\n');
  expect(stdout).toContain('old mode 100755\nnew mode 100644\n');
  expect(stdout).toContain('Binary files a/logo.png and b/logo.png differ\n');
  const copy = join(cli.cwd, 'copy');
  await run(['pull', first, copy]);
  // A patch has no bytes of binary files.
  const text = stdout.replace(/^diff --git a\/logo\.png[^]*?(?=^diff )/m, '');
  execFileSync('git', ['init', '-q', copy]);
  execFileSync('git', ['-C', copy, 'apply', '-'], { input: text });
  for (const path of ['a.ts', 'src/moved to.txt', 'src/new\u202e.txt', 'src/void'])
    expect([path, readFileSync(join(copy, path), 'utf8')]).toEqual([
      path,
      readFileSync(join(folder, path), 'utf8'),
    ]);
  expect(statSync(join(copy, 'bin/run')).mode & 0o100).toBe(0);
});

test('files are counted, listed and chosen by path', async () => {
  const { run, first, second } = await changed();
  expect((await run(['diff', '--name-status'])).stdout).toBe(
    [
      'M\ta.ts',
      'M\tbin/run',
      'D\tgone.txt',
      'M\tlogo.png',
      'R\tmoved from.txt\tsrc/moved to.txt',
      'A\tsrc/new<202E>.txt',
      'A\tsrc/void\n',
    ].join('\n'),
  );
  expect((await run(['diff', 'head', second, '--name-only', './src/', 'a.ts'])).stdout).toBe(
    'a.ts\nsrc/moved to.txt\nsrc/new<202E>.txt\nsrc/void\n',
  );
  const stat = (await run(['diff', '--stat', '--', 'a.ts', 'src'])).stdout;
  expect(stat).toContain(' a.ts                              | 2 +-\n');
  expect(stat).toContain(' 4 files changed, 2 insertions(+), 1 deletion(-)\n');
  const { diff } = (await run(['diff', second, 'head', 'a.ts', '--json'])).json();
  expect(diff).toMatchObject({
    baseSourceId: second,
    sourceId: first,
    files: [{ path: 'a.ts', additions: 1 }],
  });
  const none = await run(['diff', 'head', first]);
  expect([none.exit, none.stdout, none.stderr]).toEqual([0, '', 'No differences.\n']);
});

test('a thread is compared with the version that it started from', async () => {
  const { run, first, appId } = await changed();
  const client = createClient({ baseUrl: service.url, key: service.key });
  const { thread } = await client.threads.create(appId, { title: 'Fix', sourceId: first });
  expect((await run(['diff', '--thread', '~fix'])).stderr).toBe('No differences.\n');
  const same = await run(['diff', '@last', `thread:${thread.id}`, '--name-only', 'a.ts']);
  expect([same.exit, same.stdout]).toEqual([0, 'a.ts\n']);
});

test('a comparison that names too much, or nothing, is wrong use', async () => {
  const { run } = await linkedFolder({}, service);
  const cases: [string[], string][] = [
    [[], 'Which sources? This folder was neither pushed nor pulled.'],
    [['head', 'head', 'head'], 'A comparison has two sides'],
    [['head', '--thread', 'x'], '--thread names both sides'],
    [['--stat', '--name-only'], '--stat and --name-only exclude each other.'],
  ];
  for (const [argv, message] of cases) {
    const { exit, stderr } = await run(['diff', ...argv]);
    expect([argv, exit, stderr]).toEqual([argv, 2, expect.stringContaining(message)]);
  }
});

test('a large folder goes as an archive and comes back the same', async () => {
  const files = { 'big.bin': randomBytes(1_500_000), 'ü/ä b.txt': 'text' };
  const { run, cli } = await linkedFolder(files, service);
  const pushed = await run(['push', '--json']);
  expect(pushed.json()).toMatchObject({ sent: 'files', source: { fileCount: 3 } });
  const copy = join(cli.cwd, 'copy');
  expect((await run(['pull', 'head', copy])).exit).toBe(0);
  expect(readFileSync(join(copy, 'big.bin')).equals(files['big.bin'])).toBe(true);
  expect((await run(['cat', 'big.bin'])).bytes.equals(files['big.bin'])).toBe(true);
});

ptyTest('a terminal shows patches in colour, with what is hostile made visible', async () => {
  const { folder, cli } = await changed();
  const shell = (argv: string[], env = {}) =>
    terminal(argv, { service, home: cli.home, cwd: folder, rows: 30, env });
  const diff = shell(['diff', '--word', '--', 'a.ts', 'src']);
  expect(await diff.exit).toBe(0);
  expect(diff.sent()).toContain('const total = \u001b[7msize\u001b[27m + 1;');
  expect(diff.history()).toContain('+a␛[2Jb');
  const piped = shell(['diff', 'a.ts'], { PAGER: 'sed s/^/paged:/' });
  expect(await piped.exit).toBe(0);
  expect(piped.history().join('\n')).toContain('paged:');
  const missing = shell(['diff', 'a.ts'], { PAGER: 'no-such-pager', NO_COLOR: '1' });
  expect(await missing.exit).toBe(0);
  expect(missing.history()).toContain('+const total = size + 1;');
});

ptyTest('a terminal gets no bytes of a binary file, and an app is deleted by its name', async () => {
  const { folder, cli, appId } = await changed();
  const shell = (argv: string[]) => terminal(argv, { service, home: cli.home, cwd: folder });
  const cat = shell(['cat', 'logo.png']);
  expect(await cat.exit).toBe(2);
  expect(cat.screen().join('\n')).toContain('logo.png is no text (3 B)');
  const wrong = shell(['apps', 'delete', appId]);
  await wrong.waitFor('Its name, to confirm');
  wrong.type('Other\r');
  expect(await wrong.exit).toBe(1);
  const right = shell(['apps', 'delete', appId]);
  await right.waitFor('Its name, to confirm');
  right.type('Shop\r');
  expect(await right.exit).toBe(0);
});
