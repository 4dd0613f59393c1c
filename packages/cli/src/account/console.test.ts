import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newBench } from '../builds/builds.fixture.ts';
import { testCli } from '../cli.fixture.ts';

const APPLY = 'apl_01jd0000000000000000000000';
const BUILD = 'bld_01jd0000000000000000000000';
const ID = '_01jd0000000000000000000000';
const OTHERS = {
  task: 'tasks',
  aut: 'automations',
  op: 'operations',
  wh: 'organization/webhooks',
  repo: 'organization/repositories',
  ins: 'organization/installations',
  sa: 'organization/keys',
};
const PREVIEW = 'prv_01jd0000000000000000000000';

const WITHOUT_APP =
  /^\/api\/(projects|tasks|automations|operations|webhooks|service-accounts|source-control\/scm\/\w+)\/(\w+)$/;
const KINDS = [
  'project',
  'task',
  'automation',
  'operation',
  'subscription',
  'account',
  'repository',
  'installation',
];
const NO_SUCH = () =>
  Response.json({ ok: false, error: { code: 'not_found', message: 'No.' } }, { status: 404 });

/** A service whose console answers so. It lists what the test service does not. */
async function bench(answer = () => new Response('<!doctype html>')) {
  const lists = new Map<string, unknown[]>();
  const one = await newBench(({ url: { pathname } }) => {
    if (pathname === '/console/') return Promise.resolve().then(answer);
    const [, kind, id] = WITHOUT_APP.exec(pathname) ?? [];
    if (id?.endsWith('z')) return Promise.resolve(NO_SUCH());
    if (kind !== undefined) {
      const found = Object.fromEntries(KINDS.map((name) => [name, { id }]));
      return Promise.resolve(Response.json({ ok: true, ...found }));
    }
    const [, member] = /\/(threads|applies|builds|previews)$/.exec(pathname) ?? [];
    if (member === undefined) return undefined;
    const page = { [member]: lists.get(member), nextCursor: null, hasMore: false };
    return Promise.resolve(Response.json({ ok: true, ...page }));
  });
  const inApp = (id: string) => [{ id, projectId: one.appId }];
  lists.set('threads', [{ ...inApp(one.threadId)[0], title: 'Colours' }]);
  lists.set('applies', inApp(APPLY));
  lists.set('builds', inApp(BUILD));
  lists.set('previews', inApp(PREVIEW));
  return one;
}

/** A browser that keeps the address that it is started with. */
function newBrowser() {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-console-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [program, seen] = [join(folder, 'browser'), join(folder, 'seen')];
  writeFileSync(seen, '');
  writeFileSync(program, `#!/bin/sh\nprintf %s "$1" > '${seen}'\n`, { mode: 0o755 });
  return { env: { BROWSER: program }, seen: () => readFileSync(seen, 'utf8') };
}

test('on a terminal it opens; in a pipe, with --print or without a display it is only printed', async () => {
  const { cli, service } = await bench();
  const url = `${service.url}/console/`;
  const { env, seen } = newBrowser();
  const printed = { exit: 0, stdout: `${url}\n`, stderr: '' };
  expect(await cli.run(['console'], { env })).toMatchObject(printed);
  expect(await cli.run(['console', '--print'], { env, terminal: {} })).toMatchObject(printed);
  expect((await cli.run(['console', '--json'], { env, terminal: {} })).json()).toEqual({ ok: true, url });
  expect(seen()).toBe('');
  if (process.platform === 'linux')
    expect(await cli.run(['console'], { env: { PATH: '/nowhere' }, terminal: {} })).toMatchObject(printed);
  expect(await cli.run(['console'], { env, terminal: {} })).toMatchObject(printed);
  expect(seen()).toBe(url);
  const none = await cli.run(['console'], { env: { PATH: '/nowhere', DISPLAY: ':7' }, terminal: {} });
  expect([none.exit, none.stderr]).toEqual([
    0,
    process.platform === 'linux' ? `No browser could be started. Open the address yourself: ${url}\n` : '',
  ]);
});

test('each id, its beginning and each name lead to their page', async () => {
  const { cli, service, appId, threadId, sourceId } = await bench();
  const pages = [
    [appId, `apps/${appId}`],
    [appId.slice(0, -1), `apps/${appId}`],
    ['~Shop', `apps/${appId}`],
    [threadId, `apps/${appId}/threads/${threadId}`],
    [BUILD, `apps/${appId}/builds/${BUILD}`],
    [BUILD.slice(0, -1), `apps/${appId}/builds/${BUILD}`],
    [PREVIEW, `apps/${appId}/previews/${PREVIEW}`],
    [APPLY, `apps/${appId}/applies/${APPLY}`],
    ...Object.entries(OTHERS).map(([prefix, path]) => [`${prefix}${ID}`, `${path}/${prefix}${ID}`]),
  ];
  const found = [];
  for (const [text] of pages) found.push([text, (await cli.run(['console', text!])).stdout]);
  expect(found).toEqual(pages.map(([text, path]) => [text, `${service.url}/console/${path}\n`]));
  const inApp = { env: { HEADRACE_APP: appId } };
  expect((await cli.run(['console', '~Colours'], inApp)).stdout).toContain(`/threads/${threadId}\n`);
  expect((await cli.run(['console', '~Shop'], inApp)).stdout).toBe(`${service.url}/console/apps/${appId}\n`);
  expect((await cli.run(['console', sourceId], inApp)).stdout).toContain(`/sources/${sourceId}\n`);
});

test('exit code 5: nothing has the id; exit code 2: it is none, or of a source without an app', async () => {
  const { cli, sourceId } = await bench();
  for (const prefix of ['prj', 'thr', 'apl', 'bld', 'prv', ...Object.keys(OTHERS)]) {
    const ran = await cli.run(['console', `${prefix}_01jd000000000000000000000z`]);
    expect([prefix, ran.exit, ran.stdout]).toEqual([prefix, 5, '']);
  }
  for (const text of ['shop', 'bld_01', 'run_01jd0000000000000000000000', sourceId])
    expect([text, (await cli.run(['console', text])).exit]).toEqual([text, 2]);
});

test('a whole id is read in the command’s app, and else looked for to the end of the lists', async () => {
  const OLD = 'bld_01jd000000000000000000000a';
  let pages = 0;
  const { cli, service, appId, threadId } = await newBench(({ url: { pathname } }) => {
    if (pathname === '/console/') return Promise.resolve(new Response());
    if (!pathname.endsWith('/platform/v1/builds')) return undefined;
    const isLast = ++pages === 11;
    const builds = Array.from({ length: 200 }, (_, i) => ({
      id: `bld_01jd${String(pages * 1_000 + i).padStart(22, '0')}`,
      projectId: appId,
    }));
    return Promise.resolve(
      Response.json({
        ok: true,
        builds: isLast ? [{ id: OLD, projectId: appId }] : builds,
        nextCursor: isLast ? null : `${pages}`,
        hasMore: !isLast,
      }),
    );
  });
  const root = `${service.url}/console/apps/${appId}`;
  // The test service lists no threads over all apps.
  const ran = await cli.run(['console', threadId], { env: { HEADRACE_APP: appId } });
  expect(ran.stdout).toBe(`${root}/threads/${threadId}\n`);
  expect((await cli.run(['console', OLD])).stdout).toBe(`${root}/builds/${OLD}\n`);
  expect(pages).toBe(11);
  pages = 0;
  expect((await cli.run(['console', OLD.slice(0, -1)])).exit).toBe(5);
  expect(pages).toBe(10);
});

test('exit code 5: the console is off', async () => {
  const { cli } = await bench(() =>
    Response.json({ ok: false, error: { code: 'not_found', message: 'No.' } }, { status: 404 }),
  );
  const { exit, stdout, stderr } = await cli.run(['console']);
  expect([exit, stdout]).toEqual([5, '']);
  expect(stderr).toMatch(/There is no console at .*\n {2}→ HEADRACE_CONSOLE=0 switches it off/);
  expect((await cli.run(['console', '--json'])).json().error.code).toBe('console_off');
});

test('exit code 3: the console could not be built, with the reason; or nothing answers', async () => {
  const message = 'The console could not be built.\nsrc/main.tsx: \u001b[31mno';
  const { cli } = await bench(() =>
    Response.json({ ok: false, error: { code: 'unavailable', message } }, { status: 503 }),
  );
  const { exit, stdout, stderr } = await cli.run(['console']);
  expect([exit, stdout]).toEqual([3, '']);
  expect(stderr).toContain('src/main.tsx: ');
  expect(stderr).not.toContain('\u001b');
  const away = await bench(() => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
  });
  const ran = await away.cli.run(['console']);
  expect([ran.exit, ran.stderr]).toEqual([
    3,
    expect.stringContaining('did not answer: connect ECONNREFUSED'),
  ]);
  expect(ran.stderr).toContain('It is from HEADRACE_URL.');
  const atPort = { HEADRACE_URL: '', HEADRACE_KEY: '', HEADRACE_PORT: '4500' };
  expect((await away.cli.run(['console'], { env: atPort })).stderr).toContain('It is from HEADRACE_PORT.');
});

test('without a sign-in, it is the console that the host is configured with', async () => {
  const { service } = await bench();
  const asked: string[] = [];
  const cli = testCli({
    ...service,
    fetch: (input) => {
      asked.push(input as string);
      return Promise.resolve(new Response('<!doctype html>'));
    },
  });
  const none = { HEADRACE_URL: '', HEADRACE_KEY: '' };
  const configured: Record<string, string>[] = [
    {},
    { HEADRACE_PORT: '4500' },
    { HEADRACE_PUBLIC_URL: 'https://x.example/' },
  ];
  for (const env of configured)
    expect((await cli.run(['console'], { env: { ...none, ...env } })).exit).toBe(0);
  expect(asked).toEqual([
    'http://127.0.0.1:4400/console/',
    'http://127.0.0.1:4500/console/',
    'https://x.example/console/',
  ]);
});
