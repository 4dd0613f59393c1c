import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { invited, signedIn, tenant } from '@headrace/server/accounts/callers.fixture.ts';
import { startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import { ptyTest, terminal } from '../cli.pty.fixture.ts';
import type { TestCli } from '../cli.fixture.ts';
import { documentOf } from '../documents.fixture.ts';
import { signedInCli } from './signed-in.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api,worker', HEADRACE_WEBHOOK_ALLOW_PRIVATE: '1' });
});
afterAll(() => s?.close());

/** The owner of an organization of the test's own. */
async function owner(): Promise<TestCli> {
  return signedInCli(s.base, (await tenant(s)).cookie);
}
const ID = /\b[a-z]+_[0-9a-z]{26}\b/;

/** Every file below a folder. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'));
}

describe('keys', () => {
  test('a key is alone on stdout, works, and is added to, revoked and deleted', async () => {
    const cli = await owner();
    const made = await cli.run(['keys', 'create', 'ci', '--allow', 'project:read', '--allow', 'usage:*']);
    expect([made.exit, made.stdout]).toEqual([0, expect.stringMatching(/^hrk_[\w-]+\n$/)]);
    expect(made.stderr).toMatch(/^Service account sa_\w+ ci, its key cred_\w+, valid until [\d-]+\.\n/);
    expect(made.stderr).toContain('it is not shown again');
    const key = made.stdout.trim();
    expect((await testCli({ url: s.base, key }).run(['usage'])).exit).toBe(0);
    expect((await testCli({ url: s.base, key }).run(['webhooks', 'list'])).exit).toBe(4);

    const { accounts } = await documentOf(cli, ['keys', 'list']);
    expect(accounts).toMatchObject([{ name: 'ci', permissions: { project: ['read'], usage: ['read'] } }]);
    // A year, or a second less.
    expect((await cli.run(['keys', 'list'])).stdout).toMatch(
      /^sa_\w+\tci\tproject:read usage:read\tall\tends in 12 months\t(never|just now)\n$/,
    );
    expect((await documentOf(cli, ['keys', 'show', '@last'])).account).toEqual(accounts[0]);
    expect((await cli.run(['keys', 'show', '~ci'])).stdout).toContain('May\tproject:read usage:read\n');

    const rotated = await documentOf(cli, ['keys', 'rotate', '~ci', '--expires-in', '100d']);
    expect(Date.parse(rotated.credential.expiresAt)).toBeLessThan(Date.now() + 101 * 86_400_000);
    const { credentials } = await documentOf(cli, ['keys', 'credentials', '~ci']);
    expect(credentials).toHaveLength(2);
    const [newer, older] = credentials;
    expect(await documentOf(cli, ['keys', 'revoke', '~ci', older.id, '--yes'])).toMatchObject({
      credential: { id: older.id, revoked: true },
    });
    expect((await cli.run(['keys', 'credentials', '~ci'])).stdout.split('\n')).toEqual([
      `${newer.id}\tvalid\tnever\tin 3 months\tjust now`,
      expect.stringMatching(new RegExp(`^${older.id}\trevoked\t.*`)),
      '',
    ]);
    expect((await testCli({ url: s.base, key }).run(['usage'])).exit).toBe(4);
    expect((await testCli({ url: s.base, key: rotated.key }).run(['usage'])).exit).toBe(0);

    await documentOf(cli, ['keys', 'update', '~ci', '--disable', '--allow', 'all']);
    expect((await cli.run(['keys', 'list'])).stdout).toContain('\tall\tall\tdisabled\t');
    await documentOf(cli, ['keys', 'delete', '~ci', '--yes']);
    expect((await cli.run(['keys', 'list'])).stderr).toContain('There are no service accounts yet.');
    expect(filesIn(cli.home).join()).not.toContain(key);
  });

  test('a key may be restricted to apps, and freed again', async () => {
    const cli = await owner();
    const { app } = await documentOf(cli, ['apps', 'create', 'Shop']);
    const made = await documentOf(cli, ['keys', 'create', 'shop', '--allow', 'all', '--only', '~Shop']);
    expect(made.account.projectIds).toEqual([app.id]);
    const freed = await documentOf(cli, ['keys', 'update', '~shop', '--all-apps']);
    expect(freed.account.projectIds).toBeNull();
    const body = { name: 'from file', permissions: { thread: ['read'] }, projectIds: [app.id] };
    const both = await documentOf(cli, ['keys', 'create', 'wins', '--input', '-'], {
      stdin: JSON.stringify(body),
    });
    expect(both.account).toMatchObject({ ...body, name: 'wins' });
  });

  test.each([
    [['keys', 'create', 'x'], 'A key needs a NAME and what it may do'],
    [['keys', 'create', '--allow', 'all'], 'A key needs a NAME and what it may do'],
    [['keys', 'create', 'x', '--allow', 'threads:read'], '"threads" is not a resource. Did you mean thread?'],
    [['keys', 'create', 'x', '--allow', 'thread:fly'], '"fly" is not an action of thread.'],
    [['keys', 'create', 'x', '--allow', 'thread'], 'Write thread:create,read,update,delete,stop,retry'],
    [['keys', 'create', 'x', '--allow', 'all', '--app', '~Shop'], 'keys create has no use for --app'],
    [['keys', 'update', '~x', '--enable', '--disable'], '--enable and --disable exclude each other.'],
    [['keys', 'update', '~x', '--all-apps', '--only', '~y'], '--only and --all-apps exclude each other.'],
    [['keys', 'update', '~x'], 'There is nothing to change'],
    [['keys', 'delete', `sa_${'0'.repeat(26)}`], 'there is no terminal: give --yes.'],
  ])('%j is refused before anything is sent', async (argv, message) => {
    const cli = signedInCli('http://127.0.0.1:1', 'headrace_session=x');
    const { exit, stdout, stderr } = await cli.run(argv);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});

describe('people', () => {
  test('members are invited, get another role, and are removed', async () => {
    const { cookie } = await tenant(s);
    const cli = signedInCli(s.base, cookie);
    const asked = await cli.run(['members', 'invite', 'lee@example.test', '--role', 'admin']);
    expect([asked.exit, asked.stdout]).toEqual([0, expect.stringMatching(/^http:\/\/\S+\n$/)]);
    expect(asked.stderr).toMatch(/lee@example\.test joins as admin.*Nothing is mailed/);
    const listed = await documentOf(cli, ['invitations', 'list']);
    expect(listed.invitations).toMatchObject([{ email: 'lee@example.test', url: null }]);
    expect((await cli.run(['invitations', 'list'])).stdout).toMatch(
      /^lee@example\.test\tadmin\tin 7 days\tinv_/,
    );
    await documentOf(cli, ['invitations', 'revoke', 'lee@example.test', '--yes']);
    expect((await documentOf(cli, ['invitations', 'list'])).invitations).toEqual([]);

    const kim = await invited(s, cookie, 'member');
    const raised = await cli.run(['members', 'update', kim.email, 'admin']);
    expect([raised.exit, raised.stdout]).toEqual([0, `${kim.email} is admin.\n`]);
    const { members } = await documentOf(cli, ['members', 'list']);
    expect(members.map(({ role }: { role: string }) => role).sort()).toEqual(['admin', 'owner']);
    expect((await cli.run(['members', 'update', kim.email, 'king'])).stderr).toContain(
      'A role is owner, admin, member, not "king".',
    );
    await documentOf(cli, ['members', 'remove', kim.user.id, '--yes']);
    expect((await cli.run(['members', 'list'])).stdout).not.toContain(kim.email);
    expect((await cli.run(['members', 'remove', 'nobody@example.test', '--yes'])).exit).toBe(5);
  });

  test('a member without the role is refused, and a key is told how to sign in', async () => {
    const { cookie } = await tenant(s);
    const kim = signedInCli(s.base, (await invited(s, cookie, 'member')).cookie);
    expect((await kim.run(['members', 'list'])).exit).toBe(0);
    const refused = await kim.run(['members', 'invite', 'lee@example.test']);
    expect([refused.exit, refused.stdout]).toEqual([4, '']);
    const byKey = await testCli({ url: s.base, key: s.key }).run(['members', 'list']);
    expect([byKey.exit, byKey.stderr]).toEqual([
      4,
      `headrace: This is for people: a service key cannot do it.\n  → headrace login ${s.base} --email ADDRESS\n`,
    ]);
  });

  test('organizations are created, switched to and deleted', async () => {
    const { cookie, organization: own } = await tenant(s);
    const cli = signedInCli(s.base, cookie);
    const { organization } = await documentOf(cli, ['organization', 'create', 'Acme ⌘']);
    await documentOf(cli, ['organization', 'switch', organization.id]);
    expect((await cli.run(['organization', 'show'])).stdout).toContain(
      `*\t${organization.id}\tAcme ⌘\towner\n`,
    );
    const { activeOrganizationId } = await documentOf(cli, ['organization', 'show']);
    expect(activeOrganizationId).toBe(organization.id);
    await documentOf(cli, ['organization', 'switch', own.id]);
    const gone = await cli.run(['organization', 'delete', organization.id, '--yes']);
    expect([gone.exit, gone.stdout]).toEqual([0, 'Deleted Acme ⌘.\n']);
    expect((await cli.run(['organization', 'delete', organization.id])).exit).toBe(2);
  });

  test('a password is changed by two lines of stdin, which leave no trace; sessions are listed and ended', async () => {
    const { cookie } = await tenant(s);
    const kim = await invited(s, cookie, 'member');
    const cli = signedInCli(s.base, kim.cookie);
    const wrong = await cli.run(['password'], { stdin: 'not the password\nanother long password' });
    expect([wrong.exit, wrong.stdout]).toEqual([4, '']);
    expect(wrong.stderr).toContain('The current password is wrong.');
    const lines = `${kim.password}\nanother long password\n`;
    await documentOf(cli, ['password'], { stdin: lines });
    for (const stdin of ['', 'one line', 'a\nb\nc'])
      expect((await cli.run(['password'], { stdin })).exit).toBe(2);
    expect(filesIn(cli.home).join()).not.toMatch(/another long/);

    const { sessions } = await documentOf(cli, ['sessions', 'list']);
    expect(sessions).toMatchObject([{ current: true }]);
    expect((await cli.run(['sessions', 'list'])).stdout).toContain(`${sessions[0].id}\tthis one\t`);
    expect((await cli.run(['sessions', 'end', sessions[0].id, '--yes'])).exit).toBe(0);
    expect((await cli.run(['sessions', 'list'])).exit).toBe(4);
  });
});

describe('environment variables', () => {
  test('of an app and the organization: set, listed, printed, imported, deleted', async () => {
    const cli = await owner();
    const { app } = await documentOf(cli, ['apps', 'create', 'Shop']);
    const of = ['--app', app.id as string];
    const set = await cli.run(['env', 'set', 'API_URL', 'https://x', ...of]);
    expect([set.exit, set.stdout]).toEqual([0, 'API_URL is set for run, exec, build, preview.\n']);
    await documentOf(cli, ['env', 'set', 'LINES', '--for', 'build', ...of], { stdin: ' a \nb\n' });
    await documentOf(cli, ['env', 'set', 'ORG', 'theirs', '--organization']);
    expect((await cli.run(['env', 'get', 'LINES', ...of])).stdout).toBe(' a \nb\n');
    const names = async (...more: string[]) =>
      (await documentOf(cli, ['env', 'list', ...more])).variables.map((v: { name: string }) => v.name);
    expect(await names(...of)).toEqual(['API_URL', 'LINES']);
    expect(await names(...of, '--effective')).toEqual(['API_URL', 'LINES', 'ORG']);
    expect(await names('--organization')).toEqual(['ORG']);
    writeFileSync(join(cli.cwd, '.env'), 'export A=1\n# no\nB="two words"\nLINES=\n');
    expect((await cli.run(['env', 'import', '.env', ...of])).stdout).toBe(
      'A is new.\nB is new.\nLINES is replaced.\n',
    );
    expect((await cli.run(['env', 'get', 'B', ...of])).stdout).toBe('two words\n');
    expect((await cli.run(['env', 'rm', 'A', ...of])).exit).toBe(2);
    await documentOf(cli, ['env', 'rm', 'A', '--yes', ...of]);
    expect((await cli.run(['env', 'get', 'A', ...of])).exit).toBe(5);
  });

  test('an import that stops says what was set', async () => {
    const cli = await owner();
    const { app } = await documentOf(cli, ['apps', 'create', 'Shop']);
    const of = ['--app', app.id as string];
    writeFileSync(join(cli.cwd, '.env'), 'A=1\nPATH=/x\nZ=2\n');
    const stopped = await cli.run(['env', 'import', '.env', ...of]);
    expect([stopped.exit, stopped.stdout]).toEqual([2, '']);
    expect(stopped.stderr).toMatch(
      /^A is new\.\nPATH was refused or has no answer; none after it was set\.\n/,
    );
    const { variables } = await documentOf(cli, ['env', 'list', ...of]);
    expect(variables.map((v: { name: string }) => v.name)).toEqual(['A']);
  });

  test('a secret comes from stdin or a file, never as an argument, and nothing shows or keeps it', async () => {
    const cli = await owner();
    const { app } = await documentOf(cli, ['apps', 'create', 'Shop']);
    const of = ['--app', app.id as string];
    const secret = 'very-secret-0123456789';
    const asArgument = await cli.run(['env', 'set', 'TOKEN', secret, '--secret', ...of]);
    expect([asArgument.exit, asArgument.stdout]).toEqual([2, '']);
    expect(asArgument.stderr).toContain('Give it on stdin');
    expect(asArgument.stderr).not.toContain(secret);
    const set = await documentOf(cli, ['env', 'set', 'TOKEN', '--secret', ...of], { stdin: `${secret}\n` });
    expect(set.variable).toMatchObject({ value: null, targets: ['exec', 'build', 'preview'] });
    const got = await cli.run(['env', 'get', 'TOKEN', ...of]);
    expect([got.exit, got.stdout]).toEqual([4, '']);
    await documentOf(cli, ['env', 'import', '-', '--secret', '--for', 'build', ...of], {
      stdin: `X=${secret}`,
    });
    expect((await cli.run(['env', 'list', ...of])).stdout).toMatch(
      /^TOKEN\t\(secret\)\texec build preview\tapp\t/,
    );
    expect(filesIn(cli.home).join()).not.toContain(secret);
  });
});

describe('skills', () => {
  const skill = (folder: string, files: Record<string, string>) => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content, { mode: path.endsWith('.sh') ? 0o755 : 0o644 });
    }
  };
  const text = '---\nname: notes\ndescription: Notes.\n---\n';

  test('of an app and the organization: set from a folder, shown, pulled, deleted', async () => {
    const cli = await owner();
    const { app } = await documentOf(cli, ['apps', 'create', 'Shop']);
    const of = ['--app', app.id as string];
    skill(join(cli.cwd, 'notes'), { 'SKILL.md': text, 'run.sh': 'echo', '.gitignore': 'no\n', no: '' });
    const set = await cli.run(['skills', 'set', 'notes', 'notes', ...of]);
    expect([set.exit, set.stdout]).toEqual([0, 'notes is set: 3 files.\n']);
    await documentOf(cli, ['skills', 'set', 'notes', 'notes', '--organization']);
    expect((await cli.run(['skills', 'list', ...of])).stdout).toMatch(/^notes\tNotes\.\t3\t\d+ B\tapp\t/);
    expect((await documentOf(cli, ['skills', 'list', '--organization'])).skills).toMatchObject([
      { name: 'notes', level: 'organization', fileCount: 3 },
    ]);
    expect((await cli.run(['skills', 'get', 'notes', ...of])).stdout).toContain('Description\tNotes.\n');

    expect((await cli.run(['skills', 'pull', 'notes', 'copy', ...of])).exit).toBe(0);
    expect(readFileSync(join(cli.cwd, 'copy/SKILL.md'), 'utf8')).toBe(text);
    expect(statSync(join(cli.cwd, 'copy/run.sh')).mode & 0o100).toBe(0o100);
    skill(join(cli.cwd, 'copy'), { 'SKILL.md': 'mine' });
    const kept = await cli.run(['skills', 'pull', 'notes', 'copy', ...of]);
    expect([kept.exit, readFileSync(join(cli.cwd, 'copy/SKILL.md'), 'utf8')]).toEqual([6, 'mine']);
    expect((await cli.run(['skills', 'pull', 'notes', 'copy', '--force', ...of])).exit).toBe(0);
    expect(readFileSync(join(cli.cwd, 'copy/SKILL.md'), 'utf8')).toBe(text);

    expect((await cli.run(['skills', 'rm', 'notes', ...of])).exit).toBe(2);
    await documentOf(cli, ['skills', 'rm', 'notes', '--yes', ...of]);
    expect((await cli.run(['skills', 'get', 'notes', ...of])).exit).toBe(5);
  });

  test('what is no folder, or no skill, is refused with a reason', async () => {
    const cli = await owner();
    const { app } = await documentOf(cli, ['apps', 'create', 'Shop']);
    const of = ['--app', app.id as string];
    expect((await cli.run(['skills', 'set', 'notes', 'none', ...of])).exit).toBe(2);
    skill(join(cli.cwd, 'notes'), { 'README.md': text });
    const refused = await cli.run(['skills', 'set', 'notes', 'notes', ...of]);
    expect([refused.exit, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('SKILL.md');
  });
});

describe('model keys, models, runtimes and usage', () => {
  test('a key of a provider comes from stdin, and nothing shows it', async () => {
    const cli = await owner();
    const secret = 'sk-very-secret-0123456789';
    const set = await cli.run(['model-keys', 'set', 'anthropic'], { stdin: `${secret}\n` });
    expect([set.exit, set.stdout, set.stderr]).toEqual([0, 'anthropic has a key now.\n', '']);
    await documentOf(cli, ['model-keys', 'set', 'anthropic'], { stdin: secret });
    expect((await documentOf(cli, ['model-keys', 'list'])).modelKeys).toMatchObject([
      { provider: 'anthropic' },
    ]);
    expect((await cli.run(['models', '--limit', '200'])).stdout).toMatch(/^anthropic\/\S+\t\$[\d.]+\t/m);
    expect((await documentOf(cli, ['models'])).models[0].id).toBeTypeOf('string');
    expect((await cli.run(['model-keys', 'rm', 'anthropic'])).exit).toBe(2);
    await documentOf(cli, ['model-keys', 'rm', 'anthropic', '--yes']);
    expect((await cli.run(['model-keys', 'rm', 'anthropic', '--yes'])).exit).toBe(5);
    expect(filesIn(cli.home).join()).not.toContain(secret);
  });

  test('a key as an argument, or none, is refused', async () => {
    const cli = await owner();
    const asArgument = await cli.run(['model-keys', 'set', 'anthropic', 'sk-ant-1']);
    expect([asArgument.exit, asArgument.stdout]).toEqual([2, '']);
    expect((await cli.run(['model-keys', 'set', 'anthropic'])).stderr).toContain(
      'give it on stdin, never as an argument',
    );
  });

  test('usage is summed by what is asked for', async () => {
    const cli = await owner();
    expect((await cli.run(['usage', '--by', 'model', '--from', '7d'])).stderr).toBe(
      'There were no runs in this time.\n',
    );
    expect((await documentOf(cli, ['usage', '--by', 'app'])).usage).toEqual([]);
    const bad = await cli.run(['usage', '--from', 'yesterday']);
    expect([bad.exit, bad.stderr]).toEqual([2, expect.stringMatching(/\n {2}\/query\/from must/)]);
    expect((await documentOf(cli, ['runtimes'])).runtimes).toBeInstanceOf(Array);
  });
});

describe('settings', () => {
  test('of the organization and of an app are shown and changed, and what has changed is shown', async () => {
    const cli = await owner();
    await documentOf(cli, ['apps', 'create', 'Shop']);
    const line = ['settings', 'set', 'modelId=scripted', 'concurrency.runs:=4', '--app', '~Shop'];
    const set = await cli.run(line);
    expect([set.exit, set.stdout]).toEqual([
      0,
      'modelId\n- default\n+ scripted\nconcurrency\n- default\n+ {"runs":4,"builds":null}\n',
    ]);
    const { settings } = await documentOf(cli, [
      'settings',
      'set',
      'concurrency.builds:=2',
      '--app',
      '~Shop',
    ]);
    expect(settings).toMatchObject({ modelId: 'scripted', concurrency: { runs: 4, builds: 2 } });
    const get = async (...words: string[]) =>
      (await cli.run(['settings', 'get', ...words, '--app', '~Shop'])).stdout;
    expect(await get('modelId')).toBe('scripted\n');
    expect(await get('concurrency.runs')).toBe('4\n');
    expect(await get()).toContain('concurrency\t{"runs":4,"builds":2}\n');
    expect((await cli.run([...line.slice(0, 3), '--app', '~Shop'])).stdout).toBe('Nothing has changed.\n');
    await documentOf(cli, ['settings', 'set', 'budgetMicros:=5000000', '--organization']);
    expect((await documentOf(cli, ['settings', 'get', '--organization'])).settings.budgetMicros).toBe(
      5_000_000,
    );
  });

  test('wrong values are refused with their place, and wrong words before anything is sent', async () => {
    const cli = await owner();
    const bad = await cli.run(['settings', 'set', 'concurrency.runs:="four"', '--organization']);
    expect([bad.exit, bad.stderr]).toEqual([2, expect.stringMatching(/\n {2}\/concurrency\/runs must/)]);
    const both = await cli.run(['settings', 'get', '--organization', '--project', '~x']);
    expect(both.stderr).toContain('--organization and --project exclude each other.');
    expect((await cli.run(['settings', 'set', '--organization'])).stderr).toContain(
      'There is nothing to change',
    );
    const typo = await cli.run(['settings', 'get', 'modelID', '--organization']);
    expect([typo.exit, typo.stderr]).toEqual([2, expect.stringContaining('Did you mean modelId?')]);
    const byKey = testCli({ url: s.base, key: s.key });
    expect((await byKey.run(['settings', 'get', '--organization'])).stderr).toContain('--email ADDRESS');
  });
});

describe('MCP servers', () => {
  test('are registered with secrets from files, changed and deleted', async () => {
    const cli = testCli({ url: s.base, key: s.key });
    writeFileSync(join(cli.cwd, 'token.txt'), 'Bearer very-secret\n');
    const line = ['mcp-servers', 'create', 'tickets', '--server-url', 'https://mcp.example.com/'];
    const { mcpServer } = await documentOf(cli, [...line, '--header', 'Authorization=@token.txt']);
    expect(mcpServer).toMatchObject({ transport: 'http', headers: ['authorization'] });
    const changed = await cli.run(
      [
        'mcp-servers',
        'update',
        '@last',
        '--command',
        'node notes.mjs',
        '--env',
        'FILE=notes.md',
        '--input',
        '-',
      ],
      { stdin: '{"name":"notes"}' },
    );
    expect([changed.exit, changed.stderr]).toEqual([0, '']);
    expect(changed.stdout).toMatch(/Name\tnotes\nKind\tstdio\nCommand\tnode notes\.mjs\nEnvironment\tFILE\n/);
    expect((await documentOf(cli, ['mcp-servers', 'show', '~notes'])).mcpServer.env).toEqual(['FILE']);
    expect((await cli.run(['mcp-servers', 'list'])).stdout).toContain(`${mcpServer.id}\tnotes\tstdio\t`);
    expect((await documentOf(cli, ['mcp-servers', 'list'])).mcpServers).toHaveLength(1);
    await documentOf(cli, ['mcp-servers', 'delete', '~notes', '--yes']);
    expect((await cli.run(['mcp-servers', 'show', mcpServer.id])).exit).toBe(5);
    expect(filesIn(cli.home).join()).not.toContain('very-secret');
  });

  test.each([
    [
      ['--server-url', 'https://x.example/', '--header', 'Authorization=Bearer x'],
      'is a secret, and no argument',
    ],
    [
      ['--server-url', 'https://x.example/', '--command', 'x'],
      '--server-url and --command exclude each other.',
    ],
    [['--header', 'A=@none.txt', '--server-url', 'https://x.example/'], 'none.txt cannot be read'],
    [[], 'An MCP server needs a NAME'],
  ])('%j is refused', async (options, message) => {
    const cli = testCli({ url: s.base, key: s.key });
    const { exit, stdout, stderr } = await cli.run(['mcp-servers', 'create', 'x', ...options]);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});

describe('webhooks', () => {
  /** Answers every request alike; closed with the test's return. */
  async function receiver(status: number) {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(status).end('thanks');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
      [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
    };
  }

  test('are created with a secret that is shown once, tested, changed and deleted', async () => {
    await using good = await receiver(200);
    const cli = testCli({ url: s.base, key: s.key });
    const made = await cli.run(['webhooks', 'create', good.url, '--type', 'run.*']);
    expect([made.exit, made.stdout]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)]);
    expect(made.stderr).toMatch(/^Webhook wh_\w+ sends run\.\* to http.*\n.*not shown again/);
    const id = ID.exec(made.stderr)![0];
    expect((await documentOf(cli, ['webhooks', 'list'])).subscriptions).toMatchObject([{ id }]);
    expect((await cli.run(['webhooks', 'list'])).stdout).toBe(`${id}\t${good.url}\trun.*\tactive\n`);

    const { delivery } = await documentOf(cli, ['webhooks', 'test', '@last']);
    expect(delivery).toMatchObject({ eventType: 'webhook.ping', attempts: [{ statusCode: 200 }] });
    const again = await cli.run(['webhooks', 'redeliver', '@last', delivery.id]);
    expect([again.exit, again.stdout]).toEqual([0, expect.stringContaining(`Repeats\t${delivery.id}\n`)]);
    expect(again.stdout).toContain('\t200\tthanks\n');
    const { deliveries } = await documentOf(cli, [
      'webhooks',
      'deliveries',
      '@last',
      '--status',
      'succeeded',
    ]);
    expect(deliveries).toHaveLength(2);
    expect((await cli.run(['webhooks', 'deliveries', '@last'])).stdout).toContain(
      '\twebhook.ping\tsucceeded\t1\t200\t',
    );
    expect((await documentOf(cli, ['webhooks', 'delivery', id, delivery.id])).delivery.id).toBe(delivery.id);

    const rotated = await cli.run(['webhooks', 'rotate-secret', '~127.0.0.1', '--overlap', '1h']);
    expect([rotated.exit, rotated.stdout]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)]);
    expect(rotated.stderr).toContain('signs as well for 1 h 0 min');
    const paused = await cli.run(['webhooks', 'update', '@last', '--disable', '--type', 'thread.updated']);
    expect(paused.stdout).toContain('Events\tthread.updated\nProject\tall\nState\tdisabled: user\n');
    expect((await cli.run(['webhooks', 'redeliver', '@last', delivery.id])).exit).toBe(6);
    expect((await documentOf(cli, ['webhooks', 'show', id])).subscription.disabled).toBe(true);
    expect((await cli.run(['webhooks', 'delete', id])).exit).toBe(2);
    await documentOf(cli, ['webhooks', 'delete', id, '--yes']);
    expect((await cli.run(['webhooks', 'show', id])).exit).toBe(5);
    const files = filesIn(cli.home).join();
    for (const secret of [made.stdout, rotated.stdout]) expect(files).not.toContain(secret.trim());
  });

  test('a receiver that refuses makes a test fail, with its answer', async () => {
    await using bad = await receiver(500);
    const cli = testCli({ url: s.base, key: s.key });
    const { subscription } = await documentOf(cli, ['webhooks', 'create', bad.url]);
    const tested = await cli.run(['webhooks', 'test', subscription.id]);
    expect([tested.exit, tested.stdout]).toEqual([1, expect.stringContaining('\t500\tthanks\n')]);
    const waiting = await documentOf(cli, ['webhooks', 'test', subscription.id, '--no-wait']);
    expect(waiting.delivery.status).toBe('pending');
    await documentOf(cli, ['webhooks', 'delete', subscription.id, '--yes']);
  });

  test('a secret whose answer is lost is not shown, and the next command says how to get one', async () => {
    const service = { url: s.base, key: s.key };
    let isCut = true;
    const cli = testCli({
      ...service,
      async fetch(input, init) {
        const answer = await fetch(input, init);
        if (!isCut) return answer;
        cli.interrupt();
        throw new TypeError('cut');
      },
    });
    const argv = ['webhooks', 'create', 'https://example.com/lost', '--type', '*'];
    expect((await cli.run(argv)).exit).toBe(130);
    isCut = false;
    const again = await cli.run(argv);
    expect([again.exit, again.stdout]).toEqual([1, '']);
    expect(again.stderr).toMatch(/did not arrive.* → headrace webhooks rotate-secret wh_/);
    const { subscriptions } = await documentOf(cli, ['webhooks', 'list']);
    expect(subscriptions).toHaveLength(1);
    await documentOf(cli, ['webhooks', 'delete', subscriptions[0].id, '--yes']);
  });

  test.each([
    [['create', 'ftp://x'], 2, '/url'],
    [['create', 'https://example.com', '--type', 'run.fly'], 2, '/types/0'],
    [['create', 'https://example.com', '--input', 'none.json'], 2, 'none.json cannot be read'],
    [['create'], 2, 'A webhook needs a URL.'],
    [['update', `wh_${'0'.repeat(26)}`, '--enable', '--disable'], 2, '--enable and --disable exclude'],
    [['show', `wh_${'0'.repeat(26)}`], 5, '→ headrace webhooks list'],
    [['show', 'wh_01'], 2, 'give its id, at least 8 characters'],
  ])('%j is refused', async (words, exit, message) => {
    const ran = await testCli({ url: s.base, key: s.key }).run(['webhooks', ...words]);
    expect([ran.exit, ran.stdout]).toEqual([exit, '']);
    expect(ran.stderr).toContain(message);
  });
});

describe('audit and system', () => {
  test('entries are filtered by action, actor, target and time', async () => {
    const cli = await owner();
    const { account } = await documentOf(cli, ['keys', 'create', 'a', '--allow', 'all']);
    await documentOf(cli, ['settings', 'set', 'idleTimeoutMinutes:=7', '--organization']);
    const { entries } = await documentOf(cli, ['audit']);
    const actions = async (...words: string[]) =>
      (await documentOf(cli, ['audit', ...words])).entries.map(({ action }: { action: string }) => action);
    expect(await actions('--action', 'settings')).toEqual(['settings.updated']);
    expect(await actions('--target', account.id)).toEqual(['service_account.created']);
    expect(await actions('--actor', 'usr_nobody')).toEqual([]);
    expect(await actions('--from', '1h', '--limit', '1')).toEqual(['settings.updated']);
    expect(await actions('--to', '1h')).toEqual([]);
    expect(await actions('--from', entries[0].createdAt)).toEqual(['settings.updated']);
    expect((await cli.run(['audit', '--limit', '1'])).stdout).toMatch(/^just now\tsettings\.updated\torg_/);
    expect((await cli.run(['audit', '--from', 'noon'])).exit).toBe(2);
  });

  test('the state of the deployment is shown, without its secrets', async () => {
    const cli = signedInCli(s.base, await signedIn(s));
    expect((await (await owner()).run(['system'])).exit).toBe(4);
    const { system } = await documentOf(cli, ['system']);
    const { exit, stdout } = await cli.run(['system', '--config']);
    expect([exit, stdout]).toEqual([0, expect.stringContaining(`Version\t${system.version}\n`)]);
    expect(stdout).toMatch(/^database\tok\t/m);
    expect(stdout).toMatch(/^HEADRACE_SECRET_KEY\t\*\*\*\t$/m);
    expect((await cli.run(['system', 'stuck', '--for', '1h'])).stderr).toBe('Nothing is stuck.\n');
    expect((await documentOf(cli, ['system', 'stuck'])).stuck).toBeInstanceOf(Array);
  });
});

describe('on a terminal', () => {
  ptyTest('a secret is asked for, and no key that is typed shows it', async () => {
    const { home, run } = await owner();
    const shell = terminal(['model-keys', 'set', 'openai'], { home });
    await shell.waitFor('The key of openai:');
    shell.type('sk-very-secret');
    shell.press('enter');
    expect(await shell.exit).toBe(0);
    expect(shell.history().join('\n')).toContain('openai has a key now.');
    expect(shell.sent()).not.toContain('sk-very');
    expect((await run(['model-keys', 'list'])).stdout).toMatch(/^openai\t/);
  });

  ptyTest('a deletion names what goes, and any answer but yes changes nothing', async () => {
    const cli = await owner();
    const { account } = await documentOf(cli, ['keys', 'create', 'ci\u001b[2J', '--allow', 'thread:*']);
    const shell = terminal(['keys', 'delete', account.id], { home: cli.home });
    await shell.waitFor('Delete the service account ci␛[2J, with its keys?');
    shell.press('enter');
    expect(await shell.exit).toBe(1);
    expect(shell.history().join('\n')).toContain('headrace: Nothing was changed.');
    const sure = terminal(['keys', 'delete', account.id], { home: cli.home });
    await sure.waitFor('with its keys?');
    sure.type('y');
    expect(await sure.exit).toBe(0);
    expect((await documentOf(cli, ['keys', 'list'])).accounts).toEqual([]);
  });

  ptyTest('lists and single things fit the width', async () => {
    const cli = await owner();
    const name = 'a service account with a rather long name';
    const allow = ['--allow', 'thread:read,create', '--allow', 'usage:read'];
    const { account } = await documentOf(cli, ['keys', 'create', name, ...allow]);
    const screenOf = async (columns: number, ...argv: string[]) => {
      const shell = terminal(['keys', ...argv], { columns, home: cli.home });
      expect(await shell.exit).toBe(0);
      return shell.screen();
    };
    expect(await screenOf(80, 'list')).toEqual([
      expect.stringMatching(/^ID {29}NAME {6,}MAY {7,}APPS  KEY {9,}USED$/),
      expect.stringMatching(/^sa_\w{26}  a servi\S*…  thread\S*…  all   ends .*…  never$/),
    ]);
    expect(await screenOf(40, 'list')).toEqual([
      `ID    ${account.id}`,
      'NAME  a service account with a rather',
      '      long name',
      'MAY   thread:read,create usage:read',
      'APPS  all',
      expect.stringMatching(/^KEY {3}ends in 12 months$/),
      'USED  never',
    ]);
    expect((await screenOf(40, 'show', '@last')).slice(0, 6)).toEqual([
      `ID        ${account.id}`,
      'Name      a service account with a',
      '          rather long name',
      'May       thread:read,create usage:read',
      'Apps      all',
      'Disabled  no',
    ]);
  });
});
