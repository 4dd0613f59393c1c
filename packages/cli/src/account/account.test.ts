import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestService } from '@headrace/client/testing';
import { OWNER, startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import type { TestCli } from '../cli.fixture.ts';
import { ptyTest, terminal } from '../cli.pty.fixture.ts';
import { credentialIdOf, isServiceKey } from './service-key.ts';

/** Well formed, and valid nowhere. */
function keyWith(letter: string): string {
  const head = `hrk_01jd0000000000000000000000_${letter.repeat(43)}`;
  return head + createHash('sha256').update(head).digest('hex').slice(0, 6);
}
const KEY = keyWith('a');
const WRONG = keyWith('b');
const URL_ = 'https://headrace.test';

/** Signed in nowhere; the service is in memory. */
function stranger(service = createTestService({ key: KEY })): TestCli {
  const cli = testCli({ ...service, url: '', key: '' });
  return cli;
}
const storedOf = ({ home }: TestCli) => {
  const path = join(home, '.config/headrace/contexts.json');
  return existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as { current: string; contexts: object })
    : null;
};
const login = (cli: TestCli, ...argv: string[]) => cli.run(['login', URL_, ...argv], { stdin: `${KEY}\n` });

/** Lost connections are tried again at once. */
function withoutPauses(): void {
  vi.spyOn(Math, 'random').mockReturnValue(0);
}
const restored = () => void vi.restoreAllMocks();

describe('a service key', () => {
  test('is stored for its owner alone after the service has accepted it, and is the current sign-in', async () => {
    const cli = stranger();
    const done = await login(cli, '--json');
    expect([done.exit, done.stderr, done.json()]).toEqual([
      0,
      '',
      {
        ok: true,
        url: URL_,
        context: 'headrace.test',
        key: { credentialId: 'cred_01jd0000000000000000000000' },
        user: null,
        organization: null,
        permissions: null,
      },
    ]);
    expect(storedOf(cli)).toEqual({
      current: 'headrace.test',
      contexts: { 'headrace.test': { url: URL_, key: KEY } },
    });
    expect(statSync(join(cli.home, '.config/headrace/contexts.json')).mode & 0o777).toBe(0o600);
    expect((await cli.run(['apps', 'list'])).exit).toBe(0);
    const who = await cli.run(['whoami']);
    expect(who.stdout).toContain(`Address\t${URL_} (context headrace.test)`);
    expect(who.stdout).not.toContain(KEY.slice(31));
  });

  test('that the service refuses is not stored', async () => {
    const cli = stranger();
    const { exit, stderr } = await cli.run(['login', URL_], { stdin: WRONG });
    expect([exit, stderr]).toEqual([4, expect.stringContaining('headrace:')]);
    expect(storedOf(cli)).toBeNull();
  });

  test.each(['', 'hrk_test', `${KEY}x`, KEY.replace('aaa', 'aba')])(
    'of no form is not sent: %j',
    async (stdin) => {
      const service = createTestService({ key: KEY });
      const cli = stranger(service);
      const { exit, stderr } = await cli.run(['login', URL_], { stdin });
      expect([exit, service.requests, storedOf(cli)]).toEqual([2, [], null]);
      if (stdin.length > 20) expect(stderr).not.toContain(stdin);
    },
  );

  test('on the command line is refused, and not repeated', async () => {
    const cli = stranger();
    for (const argv of [
      ['login', '--key', KEY],
      ['login', URL_, '--key', KEY],
      ['login', `--key=${KEY}`],
    ]) {
      const { exit, stdout, stderr } = await cli.run(argv);
      expect([exit, stdout]).toEqual([2, '']);
      expect(stderr).not.toContain(KEY.slice(0, 40));
    }
  });

  test('is not stored while the service is away', async () => {
    withoutPauses();
    const cli = stranger();
    const service = testCli({
      url: '',
      key: '',
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    });
    const { exit, stderr } = await login(service);
    restored();
    expect([exit, stderr]).toEqual([3, expect.stringContaining(`${URL_} did not answer`)]);
    expect([storedOf(service), storedOf(cli)]).toEqual([null, null]);
  });

  test('has the form that the service gives them', async () => {
    const { makeServiceKey } = await import('@headrace/server/accounts/index.ts');
    const key = makeServiceKey('cred_01jd0000000000000000000000');
    expect([isServiceKey(key), credentialIdOf(key)]).toEqual([true, 'cred_01jd0000000000000000000000']);
    expect(credentialIdOf('hrk_test')).toBeNull();
  });
});

describe('login', () => {
  test('does not go to an address that a folder names, unless the user has signed in there', async () => {
    const service = createTestService({ key: KEY });
    const cli = stranger(service);
    writeFileSync(join(cli.cwd, '.headrace.json'), JSON.stringify({ url: URL_ }));
    const refused = await cli.run(['login'], { stdin: KEY });
    expect([refused.exit, service.requests]).toEqual([2, []]);
    expect(refused.stderr).toContain('headrace login https://headrace.test');
    expect((await login(cli)).exit).toBe(0);
    expect((await cli.run(['login'], { stdin: KEY })).exit).toBe(0);
  });

  test('no command sends a credential to an address that a folder names', async () => {
    const seen: string[] = [];
    const service = createTestService({ key: KEY });
    const cli = testCli({
      url: '',
      key: KEY,
      fetch: (input, init) => {
        seen.push(new Request(input).url);
        return service.fetch(input, init);
      },
    });
    writeFileSync(
      join(cli.cwd, '.headrace.json'),
      JSON.stringify({ url: 'https://evil.example', app: 'prj_1' }),
    );
    for (const argv of [['whoami'], ['apps', 'list'], ['api', '/api/models'], ['op', 'key']]) {
      const { exit, stderr } = await cli.run(argv);
      expect([exit, stderr]).toEqual([4, expect.stringContaining('not signed in at https://evil.example')]);
    }
    expect(seen).toEqual([]);
  });

  test.each([
    [['login', 'ht tp://x'], 'is no address'],
    [['login', URL_, '--email', 'a@b.example'], '--password-stdin'],
    [['login', URL_, '--password-stdin'], '--password-stdin needs --email'],
    [['login', URL_, '--key', '--email', 'a@b.example'], 'exclude each other'],
    [['login', URL_, '--name', '__proto__'], 'is no name for a context'],
  ])('%j says what is right', async (argv, message) => {
    const cli = stranger();
    const { exit, stderr } = await cli.run(argv, { stdin: KEY });
    expect([exit, stderr, storedOf(cli)]).toEqual([2, expect.stringContaining(message), null]);
  });

  test('does not replace the context of another service', async () => {
    const cli = stranger();
    await login(cli, '--name', 'work');
    const { exit, stderr } = await cli.run(['login', 'https://other.test', '--name', 'work'], { stdin: KEY });
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`The context "work" is for ${URL_}`)]);
  });

  test('in a home that cannot be written says so', async () => {
    const cli = stranger();
    writeFileSync(join(cli.home, '.config'), 'a file where a folder must be');
    const { exit, stderr } = await login(cli);
    expect([exit, stderr]).toEqual([1, expect.stringContaining('XDG_CONFIG_HOME names another folder')]);
  });
});

describe('contexts', () => {
  test('are listed, used, renamed and removed, without what is secret', async () => {
    const cli = stranger();
    await login(cli, '--name', 'one');
    await login(cli, '--name', 'two');
    const list = async () => (await cli.run(['context', 'list'])).stdout;
    expect(await list()).toBe(
      `\tone\t${URL_}\tcred_01jd0000000000000000000000\t-\n*\ttwo\t${URL_}\tcred_01jd0000000000000000000000\t-\n`,
    );
    expect(await cli.run(['context', 'use', 'one'])).toMatchObject({ exit: 0, stdout: `one  ${URL_}\n` });
    expect((await cli.run(['context', 'rename', 'one', 'first'])).exit).toBe(0);
    expect(storedOf(cli)!.current).toBe('first');
    const refused = await cli.run(['context', 'rename', 'first', 'two']);
    expect([refused.exit, refused.stderr]).toEqual([
      2,
      expect.stringContaining('There is a context "two" already'),
    ]);
    expect((await cli.run(['context', 'rm', 'first', '--json'])).json()).toEqual({
      ok: true,
      contexts: ['first'],
      endedSessions: true,
    });
    const { contexts } = (await cli.run(['context', 'list', '--json'])).json();
    expect(contexts).toEqual([
      {
        name: 'two',
        current: false,
        url: URL_,
        credentialId: 'cred_01jd0000000000000000000000',
        email: null,
        app: null,
      },
    ]);
    expect((await cli.run(['context', 'list', '--jsonl'])).stdout).toBe(`${JSON.stringify(contexts[0])}\n`);
  });

  test('that are not there are not found', async () => {
    const cli = stranger();
    for (const argv of [
      ['context', 'use', 'constructor'],
      ['context', 'rm', 'gone'],
      ['context', 'rename', 'gone', 'x'],
    ])
      expect((await cli.run(argv)).exit).toBe(5);
    expect(await cli.run(['context', 'list'])).toMatchObject({
      exit: 0,
      stdout: '',
      stderr: 'You are signed in nowhere. → headrace login URL\n',
    });
  });

  test('in a damaged file are named with the file', async () => {
    const cli = stranger();
    await login(cli);
    writeFileSync(join(cli.home, '.config/headrace/contexts.json'), '{"contexts": 5}');
    const { exit, stderr } = await cli.run(['whoami']);
    expect([exit, stderr]).toEqual([1, expect.stringContaining('contexts.json is damaged')]);
  });

  test('in a file that others could read are private afterwards', async () => {
    const cli = stranger();
    await login(cli);
    const path = join(cli.home, '.config/headrace/contexts.json');
    chmodSync(path, 0o640);
    const { exit, stderr } = await cli.run(['apps', 'list']);
    expect([exit, stderr]).toEqual([0, expect.stringContaining('rotate the keys')]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe('whoami', () => {
  test('says the address before it fails', async () => {
    withoutPauses();
    const cli = testCli({ url: URL_, key: KEY, fetch: () => Promise.reject(new TypeError('fetch failed')) });
    const away = await cli.run(['whoami'], { env: { HEADRACE_APP: '~Shop' } });
    restored();
    expect([away.exit, away.stdout]).toEqual([3, '']);
    expect(away.stderr).toMatch(
      `Address\t${URL_} (HEADRACE_URL)\nSigned in by\tHEADRACE_KEY\nApp\t~Shop (HEADRACE_APP)\nheadrace: `,
    );
    const nobody = await stranger().run(['whoami', '--url', URL_]);
    expect([nobody.exit, nobody.stdout]).toEqual([4, '']);
    expect(nobody.stderr).toMatch(`Address\t${URL_} (--url)\nSigned in by\t-\nApp\t-\nheadrace: `);
  });
});

describe('a folder', () => {
  test('is linked to a new app, to another one, and to none', async () => {
    const cli = testCli(createTestService());
    const path = join(cli.cwd, '.headrace.json');
    const made = (await cli.run(['init', '--create', 'Shop', '--json'])).json();
    expect(made).toMatchObject({ ok: true, path, app: { name: 'Shop' } });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ url: URL_, app: made.app.id });
    expect((await cli.run(['init', '--create', 'Shop'])).exit).toBe(2);
    const { app } = (await cli.run(['apps', 'create', 'Other', '--json'])).json();
    expect((await cli.run(['link', app.id])).stdout).toBe(`.headrace.json  ${app.id}  Other\n`);
    expect((await cli.run(['whoami', '--json'])).json().app).toEqual({ name: app.id, from: path });
    expect((await cli.run(['unlink'])).exit).toBe(0);
    expect((await cli.run(['unlink'])).exit).toBe(5);
    expect((await cli.run(['init', '--app', '@last'])).exit).toBe(0);
  });

  test('is not linked to an app that is not there, nor without an answer', async () => {
    const cli = testCli(createTestService());
    expect((await cli.run(['link', 'prj_01jd0000000000000000000000'])).exit).toBe(5);
    const { exit, stderr } = await cli.run(['init']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('give --app APP or --create NAME')]);
    expect(existsSync(join(cli.cwd, '.headrace.json'))).toBe(false);
  });
});

describe('a person', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ HEADRACE_ROLES: 'api' });
  });
  afterAll(() => server.close());
  const signIn = (cli: TestCli, password: string) =>
    cli.run(['login', server.base, '--email', OWNER.email, '--password-stdin', '--json'], {
      stdin: `${password}\n`,
    });

  test('signs in by a password, is known, and signs out of the service too', async () => {
    const cli = testCli();
    const done = await signIn(cli, OWNER.password);
    expect([done.exit, done.json()]).toMatchObject([
      0,
      { user: { email: OWNER.email }, organization: { role: 'owner' }, key: null },
    ]);
    expect(JSON.stringify(storedOf(cli))).not.toContain(OWNER.password);
    const who = await cli.run(['whoami']);
    expect([who.exit, who.stdout]).toEqual([0, expect.stringContaining(`<${OWNER.email}>`)]);
    const before = storedOf(cli)!;
    expect(await cli.run(['logout'])).toMatchObject({ exit: 0, stderr: '' });
    expect(storedOf(cli)).toEqual({ current: null, contexts: {} });
    writeFileSync(join(cli.home, '.config/headrace/contexts.json'), JSON.stringify(before), { mode: 0o600 });
    expect((await cli.run(['whoami'])).exit).toBe(4);
    expect((await cli.run(['logout', '--all'])).exit).toBe(0);
  });

  test('with a wrong password is not signed in', async () => {
    const cli = testCli();
    const { exit, stdout, stderr } = await signIn(cli, 'wrong password 123');
    expect([exit, storedOf(cli)]).toEqual([4, null]);
    expect(stdout + stderr).not.toContain('wrong password 123');
  });

  ptyTest('on a terminal, neither a key nor a password is shown while it is typed', async () => {
    for (const [argv, question, secret] of [
      [['login', server.base], 'The service key:', server.key],
      [['login', server.base, '--email', OWNER.email], `Password of ${OWNER.email}:`, OWNER.password],
    ] as const) {
      const screen = terminal(argv);
      await screen.waitFor(question);
      screen.type(secret);
      screen.press('enter');
      expect(await screen.exit).toBe(0);
      expect(screen.history().join('\n')).toContain('Signed in at');
      expect(screen.sent()).not.toContain(secret.slice(-8));
      expect(readFileSync(join(screen.home, '.config/headrace/contexts.json'), 'utf8')).toContain(
        server.base,
      );
    }
  });

  test('whose session cannot be ended is signed out here', async () => {
    const cli = testCli();
    await signIn(cli, OWNER.password);
    const stored = storedOf(cli)!;
    const away = JSON.stringify(stored).replaceAll(server.base, 'http://127.0.0.1:9');
    writeFileSync(join(cli.home, '.config/headrace/contexts.json'), away, { mode: 0o600 });
    withoutPauses();
    const { exit, stderr } = await cli.run(['logout', '--all']);
    restored();
    expect([exit, stderr]).toEqual([3, expect.stringContaining('may still be open')]);
    expect(storedOf(cli)).toEqual({ current: null, contexts: {} });
  });

  test('of a key in the environment is not signed out', async () => {
    const cli = testCli(createTestService());
    const { exit, stderr } = await cli.run(['logout']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('HEADRACE_KEY signs you in')]);
    expect((await stranger().run(['logout'])).exit).toBe(4);
  });
});
