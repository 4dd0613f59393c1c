import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, P, sh, until } from '../threads/threads.fixture.ts';
import { egressOf, logRefusal, REGISTRIES } from './egress.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

/** What the service's log says of refused connections from now on. */
function refusals(): object[] {
  const said: object[] = [];
  const spy = vi.spyOn(s.service.ctx.log, 'warn').mockImplementation((...args: unknown[]) => {
    if (String(args[1]).includes('refused')) said.push(args[0] as object);
  });
  onTestFinished(() => spy.mockRestore());
  return said;
}

const LIST = { egress: { mode: 'list', hosts: ['listed.example', '*.listed.example'] } };
const CALL = 'echo "proxy:$https_proxy"; curl -sS https://other.example/ 2>&1 || true';
const REFUSED = /^proxy:http:\/\/127\.0\.0\.1:4402\ncurl: \(56\) .*403\n$/;
const NONE = /^proxy:\ncurl: \(\d+\) .*\n$/;
const NAMED = { host: 'other.example', port: 443, reason: 'not_listed' };
const CREATED = /^(?!thread\.updated)/;

describe('a project whose setting names hosts: its sandboxes have the proxy, what it refuses is in the log, and no event tells of it', () => {
  test('builds', async () => {
    const b = await newBench(s, { settings: LIST });
    const said = refusals();
    let id: string;
    const words = await b.during(async () => {
      id = (
        await ok(
          s.call('POST', `${b.at}/builds`, {
            command: `${CALL}; mkdir dist`,
            outputDirectory: 'dist',
            timeoutSeconds: 60,
          }),
        )
      ).build.id;
      expect((await ok(s.call('GET', `${b.app}/builds/${id}?waitSeconds=30`))).build.status).toBe('ready');
    }, CREATED);
    const { text } = (await ok(s.call('GET', `${b.app}/builds/${id!}/logs`))).logs;
    expect(text.split('\n').filter((line: string) => line.includes('not_listed'))).toEqual([
      '[other.example: refused by the setting egress: not_listed]',
    ]);
    expect(text.replace(/\[.*\]\n/, '')).toMatch(REFUSED);
    expect(said).toEqual([{ project: b.appId, build: id!, ...NAMED }]);
    expect(words).toEqual(['platform.build.queued', 'platform.build.building', 'platform.build.ready']);
    expect((await s.service.ctx.runner.status()).egress).toEqual({ allowed: 0, refused: 1 });
  });

  test('commands', async () => {
    const b = await newBench(s, { settings: LIST });
    const said = refusals();
    const words = await b.during(async () => {
      expect((await ok(s.call('POST', `${b.at}/exec`, { command: CALL }))).exec.stdout).toMatch(REFUSED);
    });
    expect(said).toEqual([{ project: b.appId, thread: b.threadId, exec: expect.any(String), ...NAMED }]);
    expect(words).toEqual([]);
  });

  test('runs', async () => {
    const b = await newBench(s, { settings: LIST });
    const said = refusals();
    const run = await b.work(sh(`${CALL}; ${CALL}`));
    expect(run.warnings).toEqual([
      { path: 'other.example', reason: 'refused by the setting egress: not_listed' },
    ]);
    expect((await ok(s.call('GET', `${b.at}/runs/${run.id}/tools`))).tools[0].output).toContain(
      'CONNECT tunnel failed, response 403',
    );
    expect(said).toEqual([{ project: b.appId, thread: b.threadId, run: run.id, ...NAMED }]);
  });

  test('previews', async () => {
    const b = await newBench(s, { settings: LIST });
    const said = refusals();
    const { preview } = await ok(
      s.call('POST', `${b.at}/previews`, { command: `${CALL}; sleep 30`, port: 3000 }),
    );
    await until('the log line', () => said.length > 0);
    expect(said).toEqual([{ project: b.appId, thread: b.threadId, preview: preview.id, ...NAMED }]);
    await ok(s.call('DELETE', `${b.app}/previews/${preview.id}`));
  });
});

test('a project whose setting is none, or that has none, has no proxy, whatever hosts are named', async () => {
  const b = await newBench(s);
  const said = refusals();
  for (const settings of [
    {},
    { egress: { mode: 'none', hosts: ['listed.example'] } },
    { egress: { mode: 'list' } },
  ]) {
    await ok(s.call('PATCH', `${b.app}/settings`, settings));
    expect((await ok(s.call('POST', `${b.at}/exec`, { command: CALL }))).exec.stdout).toMatch(NONE);
  }
  expect(said).toEqual([]);
});

test('the runner takes a list of names only', async () => {
  const start = (egress: unknown) =>
    s.service.ctx.runner.startTask('bld_x', {
      kind: 'build',
      command: 'true',
      outputDirectory: '.',
      timeoutMs: 1_000,
      egress: egress as string[],
    });
  for (const wrong of ['listed.example', [1], {}])
    await expect(start(wrong)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/^egress\b/),
    });
});

const egress = (registries: { npm?: string; pypi?: string }, names: string[] = []) => ({
  private: names,
  authorities: null,
  registries: { npm: null, pypi: null, ...registries },
});

test('registries are a list, to which hosts are added', async () => {
  const reach = (mode: 'none' | 'list' | 'registries', host: string) =>
    egressOf({ mode, hosts: [host] }, egress({}));
  expect(reach('registries', 'more.example')).toEqual({ egress: [...REGISTRIES, 'more.example'] });
  expect(reach('list', 'only.example')).toEqual({ egress: ['only.example'] });
  expect(reach('none', 'only.example')).toEqual({});
  expect(REGISTRIES.filter((host) => host.includes('*'))).toEqual([]);
  // Each is what the setting would take.
  const { app } = await ok(s.call('POST', `${P}/apps`, { name: 'x' }));
  await ok(s.call('PATCH', `${P}/apps/${app.id}/settings`, { egress: { mode: 'list', hosts: REGISTRIES } }));
});

test("the operator's registries replace the public ones in mode registries, and nothing else", () => {
  const own = egress({ npm: 'http://npm.corp:4873/', pypi: 'https://pypi.corp/simple/' }, ['npm.corp']);
  expect(egressOf({ mode: 'registries', hosts: ['more.example'] }, own)).toEqual({
    egress: ['more.example'],
    privateHosts: ['npm.corp'],
    endpoints: [
      { host: 'npm.corp', port: 4873, tls: false },
      { host: 'pypi.corp', port: 443, tls: true },
    ],
    env: {
      npm_config_registry: 'http://npm.corp:4873/',
      PIP_INDEX_URL: 'https://pypi.corp/simple/',
      UV_INDEX_URL: 'https://pypi.corp/simple/',
    },
  });
  expect(egressOf({ mode: 'registries', hosts: [] }, egress({ pypi: 'http://pypi.corp/simple/' }))).toEqual({
    endpoints: [{ host: 'pypi.corp', port: 80, tls: false }],
    env: {
      PIP_INDEX_URL: 'http://pypi.corp/simple/',
      UV_INDEX_URL: 'http://pypi.corp/simple/',
      PIP_TRUSTED_HOST: 'pypi.corp',
    },
  });
  expect(egressOf({ mode: 'list', hosts: ['only.example'] }, own)).toEqual({
    egress: ['only.example'],
    privateHosts: ['npm.corp'],
  });
  expect(egressOf({ mode: 'list', hosts: [] }, own)).toEqual({});
  expect(egressOf({ mode: 'none', hosts: ['only.example'] }, own)).toEqual({});
});

describe('400', () => {
  test.each([
    '*',
    '*.',
    '*.com',
    'com',
    'localhost',
    '127.0.0.1',
    '93.184.215.14',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    'a.127',
    'a.0x7f',
    '::1',
    '[::1]',
    '::ffff:1.2.3.4',
    '2606:4700::1111',
    'example.com:443',
    'https://example.com',
    'example.com/',
    'user@example.com',
    'a.*.example.com',
    'a*.example.com',
    '**.example.com',
    'example..com',
    '.example.com',
    'example.com.',
    '-a.example.com',
    'a-.example.com',
    'exa mple.com',
    'example.com\n',
    'bücher.example',
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(125)}example.com`,
    '',
  ])('%j is no host name', async (host) => {
    const { app } = await ok(s.call('POST', `${P}/apps`, { name: 'x' }));
    const { status, body } = await s.call('PATCH', `${P}/apps/${app.id}/settings`, {
      egress: { mode: 'list', hosts: ['example.com', host] },
    });
    expect([status, body.error?.fields?.map((f: { path: string }) => f.path)]).toEqual([
      400,
      ['/egress/hosts/1'],
    ]);
  });

  test('not these', async () => {
    const hosts = [
      'example.com',
      'a.b.c.example.com',
      '*.example.com',
      '*.co.uk',
      'xn--bcher-kva.example',
      'Example.COM',
      '1.2.example',
      '_a.example.com',
      'a_b.example.com',
      `${'a'.repeat(63)}.example.com`,
      'x.dev',
    ];
    const { app } = await ok(s.call('POST', `${P}/apps`, { name: 'x' }));
    expect(
      (await ok(s.call('PATCH', `${P}/apps/${app.id}/settings`, { egress: { mode: 'list', hosts } })))
        .settings.egress,
    ).toEqual({ mode: 'list', hosts });
  });
});

test('a host in the log is cut, and shows no more than a line of text', () => {
  const said = refusals();
  logRefusal(
    s.service.ctx,
    {
      type: 'refused',
      offset: 0,
      at: '',
      host: `a\n\0\u001b[31m\u202e${'x'.repeat(1000)}`,
      port: 1,
      reason: 'not_listed',
    },
    { project: 'p' },
  );
  logRefusal(
    s.service.ctx,
    { type: 'refused', offset: 0, at: '', host: '', port: 0, reason: 'more' },
    { project: 'p' },
  );
  expect(said).toEqual([
    {
      project: 'p',
      host: `a\u{fffd}\u{fffd}\u{fffd}[31m\u{fffd}${'x'.repeat(244)}`,
      port: 1,
      reason: 'not_listed',
    },
    { project: 'p' },
  ]);
});
