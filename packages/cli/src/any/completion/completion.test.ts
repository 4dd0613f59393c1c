/** In real shells: a person types, presses Tab, and the words that arrive are looked at. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCli } from '../../cli.fixture.ts';
import { ptyTest, terminal } from '../../cli.pty.fixture.ts';
import type { Terminal } from '../../cli.pty.fixture.ts';

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url));
const SHELLS = {
  bash: { program: ['bash', '--norc', '--noprofile', '-i'], load: 'source "$SCRIPT"' },
  zsh: { program: ['zsh', '-f', '-i'], load: 'autoload -Uz compinit; compinit -u -D; source "$SCRIPT"' },
  fish: { program: ['fish', '--no-config', '--interactive'], load: 'source "$SCRIPT"' },
} as const;
type Shell = keyof typeof SHELLS;

const service = createTestService();
const client = createClient({ baseUrl: service.url, key: service.key, fetch: service.fetch });
/** The same service, for other processes. */
const server = createServer(async ({ url, headers }, response) => {
  const answer = await service.fetch(`${service.url}${url}`, { headers: headers as Record<string, string> });
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(await answer.text());
});
let folder: string;
let appId: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  folder = mkdtempSync(join(tmpdir(), 'headrace-completion-'));
  appId = (await client.apps.create({ name: "Kim's $HOME & Shop" })).id;
  const { source } = await client.sources.import(appId, { files: [{ path: 'index.html', content: 'hi' }] });
  await client.head.initialize(appId, { sourceId: source.id });
  await client.threads.create(appId, { title: 'Fix the header' });
  for (const name of ['bin', 'work/site', 'work/src']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'work/site.json'), '{}');
  const contexts = { current: null, contexts: { work: { url: 'https://headrace.example', key: 'x' } } };
  mkdirSync(join(folder, '.config/headrace'), { recursive: true });
  writeFileSync(join(folder, '.config/headrace/contexts.json'), JSON.stringify(contexts), { mode: 0o600 });
  // Completion asks the real program; a line that is entered shows the words that arrive.
  writeFileSync(
    join(folder, 'bin/headrace'),
    `#!/bin/sh
if [ "$1" = __complete ]; then exec '${process.execPath}' '${MAIN}' "$@"; fi
printf 'words:'; printf ' <%s>' "$@"; echo ' end'
`,
    { mode: 0o755 },
  );
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function started(name: Shell, load: string = SHELLS[name].load): Promise<Terminal> {
  const script = join(folder, name);
  const { stdout } = await testCli().run(['completion', name]);
  writeFileSync(script, stdout);
  const { program } = SHELLS[name];
  const { port } = server.address() as AddressInfo;
  const shell = terminal([], {
    program: [...program],
    columns: 200,
    rows: 40,
    cwd: join(folder, 'work'),
    home: folder,
    service: { url: `http://127.0.0.1:${port}`, key: service.key },
    env: { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`, SCRIPT: script, TERM: 'xterm' },
  });
  shell.type(`${load}; echo lo''aded\r`);
  await shell.waitFor('loaded');
  return shell;
}

const missing = (name: Shell) => spawnSync(name, ['-c', 'exit 0']).status !== 0;
function shellTest(name: Shell, title: string, run: (shell: Terminal) => Promise<void>, load?: string): void {
  if (missing(name)) {
    process.stderr.write(`Tests of completion in ${name} are SKIPPED: it is not installed.\n`);
    test.skip(title, () => {});
  } else ptyTest(title, async () => run(await started(name, load)));
}

/** Types the line, with Tab at each `⇥`, and returns the words that the program gets. */
async function entered(shell: Terminal, line: string): Promise<string[]> {
  const before = shell.history().filter((one) => one.startsWith('words:')).length;
  const lines = () => shell.history().filter((one) => /^words:.* end$/.test(one));
  shell.type(`headrace ${line.replaceAll('⇥', '\t')}\r`);
  await shell.waitFor(() => lines().length > before);
  return [
    ...lines()
      .at(-1)!
      .matchAll(/<(.*?)>/g),
  ].map(([, word]) => word!);
}

describe.each(Object.keys(SHELLS) as Shell[])('in %s', (name) => {
  shellTest(name, 'commands, options and choices are completed', async (shell) => {
    for (const [line, words] of [
      ['who⇥', ['whoami']],
      ['apps⇥ li⇥ --lim⇥5', ['apps', 'list', '--limit', '5']],
      ['-q apps li⇥', ['-q', 'apps', 'list']],
      ['thread li⇥ --sta⇥arch⇥', ['thread', 'list', '--status', 'archived']],
      ['--url x thread li⇥', ['--url', 'x', 'thread', 'list']],
    ] as const)
      expect([line, await entered(shell, line)]).toEqual([line, words]);
    shell.type('headrace context \t\t');
    await shell.waitFor('rename');
  });

  shellTest(name, 'files and folders are completed where they belong', async (shell) => {
    for (const [line, words] of [
      ['push sr⇥', ['push', expect.stringMatching(/^src\/?$/)]],
      ['api GET /x --input si⇥.j⇥', ['api', 'GET', '/x', '--input', 'site.json']],
    ] as const)
      expect([line, await entered(shell, line)]).toEqual([line, words]);
  });

  shellTest(
    name,
    'apps, threads and contexts are asked for, and their names are no syntax',
    async (shell) => {
      const app = "~Kim's $HOME & Shop";
      for (const [line, words] of [
        ['link prj_⇥', ['link', appId]],
        ['link \\~Kim⇥', ['link', app]],
        [`thread show -a ${appId} \\~Fix⇥`, ['thread', 'show', '-a', appId, '~Fix the header']],
        [`thread show --app=${appId} '~Fix⇥`, ['thread', 'show', `--app=${appId}`, '~Fix the header']],
        ["thread show -a '~Kim' '~Fix⇥", ['thread', 'show', '-a', '~Kim', '~Fix the header']],
        ['--context wor⇥ whoami', ['--context', 'work', 'whoami']],
        ['--context=wor⇥ whoami', ['--context=work', 'whoami']],
      ] as const)
        expect([line, await entered(shell, line)]).toEqual([line, words]);
    },
  );
});

shellTest(
  'zsh',
  'a file in a folder of $fpath completes in zsh',
  async (shell) => expect(await entered(shell, 'apps li⇥')).toEqual(['apps', 'list']),
  'mkdir f; cp "$SCRIPT" f/_headrace; fpath=($PWD/f $fpath); autoload -Uz compinit; compinit -u -D',
);

describe('what is asked for', () => {
  test('are ids with names, and after ~ names with ids', async () => {
    const cli = testCli(service);
    const ask = async (...argv: string[]) => (await cli.run(['__complete', ...argv])).stdout;
    expect(await ask('app', '')).toBe(`${appId}\tKim's $HOME & Shop\n`);
    expect(await ask('app', '~')).toBe(`~Kim's $HOME & Shop\t${appId}\n`);
    expect(await ask('thread', '~', 'thread', 'show', '--app', appId)).toMatch(
      /^~Fix the header\tthr_\w+\n$/,
    );
  });

  test.each([
    ['without a sign-in', testCliOf(), 'app'],
    ['from a service that refuses', testCliOf(401), 'app'],
    ['without an app', testCliOf(200), 'thread'],
    ['of an unknown kind', testCliOf(200), 'nonsense'],
    ['from a service that does not answer', testCliOf(null), 'app'],
  ])('is nothing, and no word of it, %s', async (_, makeCli, kind) => {
    const from = performance.now();
    expect(await makeCli().run(['__complete', kind, ''])).toMatchObject({ exit: 0, stdout: '', stderr: '' });
    expect(performance.now() - from).toBeLessThan(3_000);
  });
});

/** Its service answers so; null: never. Undefined: it is signed in nowhere. */
function testCliOf(status?: number | null) {
  if (status === undefined) return () => testCli();
  const answer = async (_: unknown, init?: RequestInit) =>
    status === null
      ? new Promise<Response>((_resolve, reject) =>
          init?.signal?.addEventListener('abort', () => reject(init.signal!.reason as Error)),
        )
      : Response.json({ ok: false, error: { code: 'x', message: 'x' } }, { status });
  return () => testCli({ url: service.url, key: service.key, fetch: answer });
}

test('a shell that has none is refused, and --json has the script', async () => {
  const cli = testCli();
  const refused = await cli.run(['completion', 'tcsh']);
  expect(refused).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining('bash, zsh, fish') });
  const { stdout } = await cli.run(['completion', 'fish']);
  const document = (await cli.run(['completion', 'fish', '--json'])).json();
  expect(document).toEqual({ ok: true, shell: 'fish', script: stdout.trimEnd() });
});
