/** Repositories, projects and pull requests on a real service. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { newAccount, signedIn as signedInCookie } from '@headrace/server/accounts/callers.fixture.ts';
import { OWNER, startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import type { TestCli } from '../cli.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(() => s?.close());

const signedIn = () => testCli({ url: s.base, key: s.key });
let names = 0;
const newName = () => `site-${++names}`;

/** Runs a command that has to succeed. */
async function done(cli: TestCli, ...argv: string[]) {
  const ran = await cli.run(argv);
  expect(ran, argv.join(' ')).toMatchObject({ exit: 0 });
  return ran;
}
const json = async (cli: TestCli, ...argv: string[]) => (await done(cli, ...argv, '--json')).json();

async function git(cli: TestCli, cwd: string, ...args: string[]): Promise<string> {
  const me = ['-c', 'user.name=Me', '-c', 'user.email=me@example.test'];
  const { stdout } = await promisify(execFile)('git', [...me, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cli.home, GIT_TERMINAL_PROMPT: '0' },
  });
  return stdout.trim();
}

/** A sign-in by file: the key is in no environment. */
function signedInByFile(): TestCli {
  const cli = testCli();
  const folder = join(cli.home, '.config/headrace');
  mkdirSync(folder, { recursive: true });
  const contexts = { current: 'test', contexts: { test: { url: s.base, key: s.key } } };
  writeFileSync(join(folder, 'contexts.json'), JSON.stringify(contexts), { mode: 0o600 });
  return cli;
}

/** A repository with one commit, a project of it, and a thread with a change. */
async function newThread(cli: TestCli, files: Record<string, string> = { 'b.txt': 'new\n' }) {
  const name = newName();
  await s.call('POST', '/api/source-control/scm/repositories', {
    name,
    files: [{ path: 'a.txt', content: 'one\n' }],
  });
  const { project } = await json(cli, 'projects', 'create', 'Garden', '--repo', name);
  const content = Object.entries(files)
    .map(([path, text]) => `\`\`\`file ${path}\n${text}\`\`\`\n`)
    .join('\n');
  const { body } = await s.call('POST', '/api/threads', {
    projectId: project.id,
    title: 'Water the plants',
    modelId: 'scripted',
    message: { content },
  });
  const threadId = body.thread.id as string;
  const ran = await s.call('GET', `/api/threads/${threadId}/runs/${body.run.id}?waitSeconds=30`);
  expect(ran.body.run).toMatchObject({ status: 'completed' });
  return { name, threadId, projectId: project.id as string };
}

/** What `ps` shows of all processes, with their environments, until the work has ended. */
async function processesUntil(work: Promise<unknown>): Promise<string> {
  const ended = work.then(
    () => true,
    () => true,
  );
  const seen: string[] = [];
  do seen.push((await promisify(execFile)('ps', ['axwwe', '-o', 'args'])).stdout);
  while (!(await Promise.race([ended, setTimeout(5, false)])));
  return seen.join('\n');
}

describe('repositories', () => {
  test('are created, listed, shown, changed and deleted', async () => {
    const cli = signedIn();
    const name = newName();
    const made = await json(cli, 'repos', 'create', name);
    expect(made).toMatchObject({ ok: true, repository: { name, defaultBranch: 'main' } });
    const listed = await done(cli, 'repos', 'list', '--query', name);
    expect(listed.stdout).toBe(`${made.repository.id}\t${name}\tlocal\tmain\tjust now\n`);
    const shown = await done(cli, 'repos', 'show', '@last');
    expect(shown.stdout).toContain(`Clone\t${s.base}/git/${name}.git\n`);
    await done(cli, 'repos', 'update', name, '--required-check', 'tests', '--merge-method', 'squash');
    expect((await json(cli, 'repos', 'show', made.repository.id)).repository).toMatchObject({
      requiredChecks: ['tests'],
      mergeMethods: ['squash'],
    });
    expect(await cli.run(['repos', 'delete', name])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('give --yes'),
    });
    expect((await done(cli, 'repos', 'delete', name, '--yes')).stdout).toBe(`Deleted ${name}.\n`);
    expect(await cli.run(['repos', 'show', made.repository.id])).toMatchObject({ exit: 5 });
  });

  test('are cloned, and pushed to, with a key that git asks for', async () => {
    const cli = signedInByFile();
    const name = newName();
    await done(cli, 'repos', 'create', name);
    const trace = join(cli.home, 'trace');
    const cloning = cli.run(['repos', 'clone', name], { env: { GIT_TRACE: trace } });
    const processes = await processesUntil(cloning);
    const cloned = await cloning;
    expect(processes).toContain(`${s.base}/git/${name}.git`);
    const folder = join(cli.cwd, name);
    expect(cloned).toMatchObject({ exit: 0, stdout: `${folder}\n` });
    writeFileSync(join(folder, 'a.txt'), 'one\n');
    await git(cli, folder, 'add', '.');
    await git(cli, folder, 'commit', '-qm', 'Begin');
    await git(cli, folder, 'push', '-q', 'origin', 'HEAD:main');
    const commit = await git(cli, folder, 'rev-parse', 'HEAD');
    expect((await done(cli, 'repos', 'branches', name)).stdout).toBe(`main\t${commit}\tdefault, protected\n`);
    expect((await json(cli, 'repos', 'inspect', name)).inspection).toMatchObject({
      commitSha: commit,
      fileCount: 1,
      withinLimits: true,
    });
    const commands = readFileSync(trace, 'utf8');
    expect(commands).toContain('repos');
    expect(commands).toContain('credential');
    const written = readdirSync(join(folder, '.git'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    for (const text of [processes, commands, cloned.stderr, ...written]) expect(text).not.toContain(s.key);
  });

  test('a clone that git refuses fails with its message', async () => {
    const cli = signedInByFile();
    const name = newName();
    await done(cli, 'repos', 'create', name);
    writeFileSync(join(cli.cwd, 'taken'), '');
    const ran = await cli.run(['repos', 'clone', name, 'taken', '--json']);
    expect([ran.exit, ran.json()]).toMatchObject([1, { ok: false, error: { code: 'failed' } }]);
    expect(ran.stderr).toContain('already exists');
  });

  test('the credential is given for the address of the sign-in alone', async () => {
    const cli = signedInByFile();
    const asks = (host: string) =>
      cli.run(['repos', 'credential', 'get'], { stdin: `protocol=http\nhost=${host}\n` });
    expect(await asks(new URL(s.base).host)).toMatchObject({
      exit: 0,
      stdout: `username=headrace\npassword=${s.key}\n`,
    });
    expect(await asks('evil.example')).toMatchObject({ exit: 2, stdout: '' });
    const stored = await cli.run(['repos', 'credential', 'store'], { stdin: 'host=a\n' });
    expect(stored).toMatchObject({ exit: 0, stdout: '', stderr: '' });
  });
});

describe('pull requests', () => {
  test('are opened, read, changed and merged', async () => {
    const cli = signedIn();
    const { threadId, name } = await newThread(cli);
    const none = await cli.run(['pr', 'show', '--thread', threadId]);
    expect([none.exit, none.stderr]).toEqual([
      5,
      `headrace: The thread ${threadId} has no pull request.\n  → headrace pr create --thread ${threadId}\n`,
    ]);
    const made = await json(cli, 'pr', 'create', '--thread', threadId, '--body', 'They were dry.');
    expect(made.pullRequest).toMatchObject({ number: 1, title: 'Water the plants', body: 'They were dry.' });
    expect((await json(cli, 'pr', 'list')).pullRequests).toMatchObject([{ id: made.pullRequest.id }]);
    const ready = await done(cli, 'pr', 'watch', '--timeout', '20s');
    expect(ready.stdout).toMatch(/#1 {2}everything is green: it can be merged\n$/);
    const shown = await done(cli, 'pr', 'update', '#1', '--title', 'Water all plants');
    expect(shown.stdout).toContain('Title\tWater all plants\n');
    expect((await done(cli, 'pulls', 'list', name)).stdout).toContain('#1\tWater all plants\topen\t');
    expect(await cli.run(['pr', 'merge'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('give --yes'),
    });
    const merged = await json(cli, 'pr', 'merge', '--method', 'squash', '--yes');
    expect(merged.pullRequest).toMatchObject({ state: 'merged' });
    const again = await cli.run(['pr', 'merge', '--yes']);
    expect([again.exit, again.stderr]).toEqual([0, '#1 is merged already.\n']);
  });

  test('checks are reported, shown, and refuse a merge', async () => {
    const cli = signedIn();
    const { threadId, name } = await newThread(cli);
    await done(cli, 'repos', 'update', name, '--required-check', 'tests');
    const { pullRequest } = await json(cli, 'pr', 'create', '--thread', threadId);
    const report = (state: string) =>
      done(cli, 'statuses', 'create', name, pullRequest.headSha as string, 'tests', state);
    expect((await report('failure')).stdout).toBe(`${pullRequest.headSha}  tests  failure\n`);
    const blocked = await cli.run(['pr', 'watch', '--timeout', '20s', '--json']);
    expect([blocked.exit, blocked.json().pullRequest.scmSummary.checks.failing]).toEqual([1, 1]);
    const checks = await cli.run(['pr', 'checks']);
    expect([checks.exit, checks.stdout]).toEqual([1, '1 failing\ntests\tfailure\t-\t-\tjust now\n']);
    const refused = await cli.run(['pr', 'merge', '--yes']);
    expect([refused.exit, refused.stderr]).toEqual([
      6,
      expect.stringMatching(
        /A required check has not succeeded on the newest commit\.\n {2}→ headrace pr checks/,
      ),
    ]);
    await report('success');
    expect((await done(cli, 'pr', 'merge', '--yes')).stdout).toContain('Now\tmerged into main\n');
  });

  test('comments are made, answered, resolved and listed', async () => {
    const cli = signedIn();
    const { threadId, name } = await newThread(cli);
    await done(cli, 'pr', 'create', '--thread', threadId);
    const first = await json(
      cli,
      'comments',
      'create',
      name,
      '1',
      '--body',
      'Why?',
      '--path',
      'b.txt',
      '--line',
      '1',
    );
    await done(cli, 'comments', 'create', name, '1', '--body', 'So.', '--reply', first.comment.id);
    await done(cli, 'comments', 'resolve', name, '1', first.comment.id);
    const listed = await done(cli, 'pr', 'comments');
    expect(listed.stdout).toMatch(/b\.txt:1 {2}resolved .*\nWhy\?\n\n {4}.*\n {4}So\.\n$/);
    expect((await json(cli, 'pr', 'comments')).comments).toHaveLength(2);
  });

  test('the review loop is switched on, shown and switched off', async () => {
    const cli = signedIn();
    const { threadId, name } = await newThread(cli);
    const { pullRequest } = await json(cli, 'pr', 'create', '--thread', threadId);
    expect((await done(cli, 'pr', 'loop')).stdout).toBe('off: it has never been on. → headrace pr loop on\n');
    const on = await json(cli, 'pr', 'loop', 'on', '--auto-merge', 'on');
    expect(on.pullRequest.reviewLoop).toMatchObject({ enabled: true, autoMerge: true });
    await done(cli, 'statuses', 'create', name, pullRequest.headSha as string, 'tests', 'failure');
    const blocked = await cli.run(['pr', 'watch', '--timeout', '20s']);
    expect([blocked.exit, blocked.stdout]).toEqual([
      1,
      expect.stringMatching(/#1 {2}the agent is `scripted` and has no script\n$/),
    ]);
    const shown = await done(cli, 'pr', 'loop', 'show');
    expect(shown.stdout).toContain(
      'Review loop\tblocked\nNow\tthe agent is `scripted` and has no script\nNext\t',
    );
    expect((await done(cli, 'pr', 'loop', 'off')).stdout).toContain('Now\toff: a person switched it off\n');
    expect(await cli.run(['pr', 'loop', 'sideways'])).toMatchObject({ exit: 2 });
  });

  test('Ctrl-C detaches from a watched one', async () => {
    const cli = signedIn();
    const { threadId, name } = await newThread(cli);
    await done(cli, 'repos', 'update', name, '--required-check', 'tests');
    await done(cli, 'pr', 'create', '--thread', threadId);
    const ran = await cli.run(['pr', 'watch'], {
      onOutput: (text) => text.includes('0 of 1 are done') && cli.interrupt(),
    });
    expect([ran.exit, ran.stderr]).toEqual([
      130,
      'headrace: Interrupted.\n  → It goes on without you: headrace pr watch\n',
    ]);
  });
});

const WATERED = 'Water them.\n\n```file plants.txt\nfern, watered\n```\n';

test('from an empty service to a merged pull request, by the command line alone', async () => {
  const cli = signedInByFile();
  const name = newName();
  await done(cli, 'repos', 'create', name);
  await done(cli, 'repos', 'clone', name);
  const folder = join(cli.cwd, name);
  writeFileSync(join(folder, 'plants.txt'), 'fern\n');
  await git(cli, folder, 'add', '.');
  await git(cli, folder, 'commit', '-qm', 'Begin');
  await git(cli, folder, 'push', '-q', 'origin', 'HEAD:main');
  await done(cli, 'projects', 'create', 'Garden', '--repo', name);
  const titled = ['--title', 'Water the plants'];
  const worked = await done(cli, 'thread', 'new', WATERED, ...titled, '--project', '@last', '--follow');
  expect(worked.stdout).not.toBe('');
  const { pullRequest } = await json(cli, 'pr', 'create', '--draft');
  await done(cli, 'pr', 'update', '--ready');
  await done(cli, 'statuses', 'create', name, pullRequest.headRef as string, 'tests', 'success');
  await done(cli, 'pr', 'watch', '--timeout', '30s');
  const merged = await done(cli, 'pr', 'merge', '--method', 'squash', '--yes');
  expect(merged.stdout).toContain('State\tmerged\nNow\tmerged into main\n');
  await git(cli, folder, 'pull', '-q', 'origin', 'main');
  expect(readFileSync(join(folder, 'plants.txt'), 'utf8')).toBe('fern, watered\n');
  expect(await git(cli, folder, 'log', '-1', '--format=%s')).toContain('Water the plants');
});

test('threads of projects are made, listed, shown, followed and worked with, without an app', async () => {
  const cli = signedIn();
  const { threadId, projectId } = await newThread(cli);
  const listed = await json(cli, 'thread', 'list', '--project', '~Garden', '--query', 'plants');
  expect(listed.threads.map(({ id }: { id: string }) => id)).not.toEqual([]);
  const { thread, run } = await json(
    cli,
    'thread',
    'new',
    WATERED,
    '--project',
    projectId,
    '--branch',
    'main',
    '--model',
    'scripted',
  );
  expect([thread.projectId, thread.baseBranch, run.threadId]).toEqual([projectId, 'main', thread.id]);
  expect((await json(cli, 'thread', 'list', '--project', projectId)).threads).toMatchObject([
    { id: thread.id },
    { id: threadId },
  ]);
  expect((await json(cli, 'thread', 'show')).thread.id).toBe(thread.id);
  writeFileSync(
    join(cli.cwd, '.headrace.json'),
    JSON.stringify({ url: s.base, app: `prj_${'0'.repeat(26)}` }),
  );
  const inLinked = await cli.run(['thread', 'show', threadId, '--json']);
  expect(inLinked.json().thread.id).toBe(threadId);
  const sent = await cli.run(['send', threadId, WATERED, '--follow', '--json']);
  expect([sent.exit, sent.json().run.status]).toEqual([0, 'completed']);
  const retried = await cli.run(['retry', threadId, '--follow', '--json']);
  expect([retried.exit, retried.json().run.status]).toEqual([0, 'completed']);
  expect(await cli.run(['attach', threadId])).toMatchObject({ exit: 0 });
  expect((await cli.run(['stop', threadId, '--json'])).json().error.code).toBe('run_not_active');
});

describe('refusals', () => {
  test('unknown ids, wrong words and taken names are refused', async () => {
    const cli = signedIn();
    const unknown = `thr_${'0'.repeat(26)}`;
    expect(await cli.run(['pr', 'list', '--thread', unknown])).toMatchObject({ exit: 5 });
    expect(await cli.run(['pr', 'show'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('There is no last thread here yet.'),
    });
    expect(await cli.run(['repos', 'show', 'nothing-of-the-kind'])).toMatchObject({ exit: 5 });
    expect(await cli.run(['pulls', 'show', 'x', 'one'])).toMatchObject({ exit: 2 });
    const name = newName();
    await done(cli, 'repos', 'create', name);
    expect(await cli.run(['repos', 'create', name])).toMatchObject({ exit: 6 });
    expect(await cli.run(['statuses', 'create', name, 'main', 'tests', 'green'])).toMatchObject({ exit: 2 });
    expect(await cli.run(['repos', 'update', name])).toMatchObject({ exit: 2 });
  });

  test('a key without the permission is refused, and nothing is done', async () => {
    const cookie = await signedInCookie(s);
    const { key } = await newAccount(s, cookie, { permissions: { repo: ['read'] } });
    const cli = testCli({ url: s.base, key });
    const name = newName();
    const made = await cli.run(['repos', 'create', name, '--json']);
    expect([made.exit, made.json().error.message]).toEqual([4, expect.stringContaining('repo:update')]);
    expect((await json(cli, 'repos', 'list', '--query', name)).repositories).toEqual([]);
  });

  test('a key connects no host; the secrets of a person come from files, and are in no message', async () => {
    const cli = signedIn();
    const { installations } = await json(cli, 'installations', 'list');
    expect(installations).toMatchObject([{ provider: 'local', managedBy: 'service' }]);
    const shown = await done(cli, 'installations', 'show', installations[0].id as string);
    expect(shown.stdout).toContain('Status\tconnected\n');
    const connect = ['installations', 'create', 'Acme', '--token-file', '-'];
    expect(await cli.run(connect, { stdin: 'github_pat_secret' })).toMatchObject({ exit: 4 });
    const person = testCli();
    const login = ['login', s.base, '--email', OWNER.email, '--password-stdin'];
    expect(await person.run(login, { stdin: OWNER.password })).toMatchObject({ exit: 0 });
    expect(await person.run([...connect, '--app-id', '1'], { stdin: 'x' })).toMatchObject({ exit: 2 });
    const refused = await person.run([...connect, '--base-url', 'http://127.0.0.1:1'], {
      stdin: 'github_pat_secret',
    });
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('/baseUrl')]);
    expect(refused.stdout + refused.stderr).not.toContain('github_pat_secret');
  });
});
