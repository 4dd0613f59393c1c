import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { tarFiles } from '@headrace/agent/tar.ts';
import { scratch } from '../runner.fixture.ts';
import { tarOf } from '../tar.ts';
import { startHost, turnOf, worktree, type TestHost } from './host.fixture.ts';

const STAGED = 'headrace/host/hst_test/staged';
const WAIT = { timeout: 20_000 };
const top = scratch();
const hosts: TestHost[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
});
let count = 0;

async function host(
  files: Record<string, string> = { 'README.md': '# Site\n' },
  isGit = true,
): Promise<TestHost> {
  const folder = join(top, `folder${++count}`);
  fill(folder, files);
  if (isGit) {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: folder, env: { ...process.env, ...GIT } });
    git('init', '--quiet', '--initial-branch=main');
    git('add', '--all', '--force');
    git('commit', '--quiet', '--message', 'Begin');
  }
  const made = await startHost({ folder, state: join(top, `state${count}`) });
  hosts.push(made);
  return made;
}

const GIT = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'T'],
    [`GIT_${who}_EMAIL`, 't@example.com'],
  ]),
);

function fill(folder: string, files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

const sh = (command: string): string => `\`\`\`sh\n${command}\n\`\`\``;

describe('status', () => {
  test('tells the folders by their names alone, and what can be done in them', async () => {
    const { line, folder } = await host();
    const { status, json, body } = await line.ask('/status');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      version: '1.2.3',
      providers: ['agent_a'],
      share: 'owner',
      bindings: [{ name: 'site', workspaceModes: ['direct', 'worktree'], isGit: true, branch: 'main' }],
      tasks: [],
      workspaces: [],
    });
    expect(body.toString()).not.toContain(folder);
  });

  test('a folder without a repository, or without a commit, has no worktrees', async () => {
    const { line } = await host({ 'a.txt': 'a\n' }, false);
    expect((await line.ask('/status')).json.bindings).toEqual([
      { name: 'site', workspaceModes: ['direct'], isGit: false, branch: null },
    ]);
  });
});

describe('a worktree', () => {
  test('is made once from HEAD on its branch, and goes while the branch stays', async () => {
    const { line, folder, git } = await host();
    writeFileSync(join(folder, 'README.md'), '# Not committed\n');
    const wanted = { binding: 'site', mode: 'worktree', branch: 'headrace/abc123' };
    const head = git('rev-parse', 'HEAD');
    expect((await line.put('/workspaces/thr_1', wanted)).json).toEqual({ headCommit: head });
    const dir = worktree(git, 'headrace/abc123')!;
    expect(readFileSync(join(dir, 'README.md'), 'utf8')).toBe('# Site\n');
    writeFileSync(join(dir, 'kept.txt'), 'kept\n');
    expect((await line.put('/workspaces/thr_1', wanted)).json).toEqual({ headCommit: head });
    expect(existsSync(join(dir, 'kept.txt'))).toBe(true);
    expect((await line.ask('/workspaces/thr_1', { method: 'DELETE' })).status).toBe(204);
    expect([existsSync(dir), worktree(git, 'headrace/abc123')]).toEqual([false, undefined]);
    expect(git('rev-parse', '--verify', 'refs/heads/headrace/abc123')).toBe(head);
    expect((await line.ask('/workspaces/thr_1')).json).toEqual({ exists: false, base: null });
    // Its branch may be used again.
    expect((await line.put('/workspaces/thr_1', wanted)).json).toEqual({ headCommit: head });
  });

  test('is patched as a whole, without leaving it', async () => {
    const { line, git, folder } = await host({ 'a.txt': 'a\n', 'old/b.txt': 'b\n' });
    await line.put('/workspaces/thr_1', { binding: 'site', mode: 'worktree', branch: 'headrace/p' });
    const dir = worktree(git, 'headrace/p')!;
    symlinkSync(folder, join(dir, 'out'));
    const patch = (header: object, files: { path: string; content: string }[]) =>
      line.ask('/workspaces/thr_1/patch', {
        method: 'POST',
        raw: tarOf([{ path: '.headrace-patch.json', content: JSON.stringify(header) }, ...files]),
      });
    const done = await patch({ delete: ['old/b.txt'] }, [
      { path: 'new/c.txt', content: 'c\n' },
      { path: 'out/d.txt', content: 'd\n' },
    ]);
    expect(done.status).toBe(204);
    expect([existsSync(join(dir, 'old')), existsSync(join(folder, 'd.txt'))]).toEqual([false, false]);
    expect([
      readFileSync(join(dir, 'new/c.txt'), 'utf8'),
      readFileSync(join(dir, 'out/d.txt'), 'utf8'),
    ]).toEqual(['c\n', 'd\n']);
    for (const path of ['../x', '/etc/x', 'a/../../x', '.git/hooks/x', '.GIT/config']) {
      expect([path, (await patch({ delete: [] }, [{ path, content: 'x' }])).status]).toEqual([path, 400]);
      expect([path, (await patch({ delete: [path] }, [])).status]).toEqual([path, 400]);
    }
    expect(existsSync(join(dir, '../x'))).toBe(false);
  });
});

test('a patch whose connection ends in its middle changes nothing, and holds nothing up', async () => {
  const made = await host();
  const { line, git, service } = made;
  await line.put('/workspaces/thr_1', { binding: 'site', mode: 'worktree', branch: 'headrace/p' });
  const dir = worktree(git, 'headrace/p')!;
  const files = [
    { path: '.headrace-patch.json', content: '{"delete":["README.md"]}' },
    { path: 'new.txt', content: 'x'.repeat(100_000) },
  ];
  const upload = line.session.request({ ':method': 'POST', ':path': '/workspaces/thr_1/patch' });
  upload.on('error', () => {}).write(tarOf(files).subarray(0, 50_000));
  await expect.poll(() => existsSync(join(made.state, STAGED, 'thr_1/0')), WAIT).toBe(true);
  line.socket.terminate();
  const next = await service.line();
  expect([existsSync(join(dir, 'README.md')), existsSync(join(dir, 'new.txt'))]).toEqual([true, false]);
  const again = { method: 'POST', raw: tarOf(files) };
  await expect.poll(async () => (await next.ask('/workspaces/thr_1/patch', again)).status, WAIT).toBe(204);
  expect([existsSync(join(dir, 'README.md')), existsSync(join(dir, 'new.txt'))]).toEqual([false, true]);
});

test('a patch that was staged when the program was killed is completed by the next one', async () => {
  const made = await host({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  await made.line.put('/workspaces/thr_1', { binding: 'site', mode: 'worktree', branch: 'headrace/p' });
  const dir = worktree(made.git, 'headrace/p')!;
  await made.stop();
  const plan = {
    delete: ['a.txt'],
    write: [
      { path: 'b.txt', executable: false },
      { path: 'c/d.txt', executable: true },
    ],
  };
  // The first file is in its place already.
  writeFileSync(join(dir, 'b.txt'), 'new\n');
  fill(join(made.state, STAGED, 'thr_1'), { 'plan.json': JSON.stringify(plan), '1': 'd\n' });
  const again = await startHost({ folder: made.folder, state: made.state });
  hosts.push(again);
  await again.line.ask('/status');
  expect([existsSync(join(dir, 'a.txt')), existsSync(join(made.state, STAGED, 'thr_1'))]).toEqual([
    false,
    false,
  ]);
  expect(['b.txt', 'c/d.txt'].map((path) => readFileSync(join(dir, path), 'utf8'))).toEqual(['new\n', 'd\n']);
});

test('a worker that was taken for dead changes nothing, also after the next start of the program', async () => {
  const made = await host();
  const wanted = { binding: 'site', mode: 'worktree', branch: 'headrace/f' };
  const by = (fence: number) => ({ headers: { 'headrace-fence': String(fence) } });
  const put = (fence: number) =>
    made.line.ask('/workspaces/thr_1', { method: 'PUT', body: wanted, ...by(fence) });
  expect([(await put(1)).status, (await put(2)).status]).toEqual([200, 200]);
  const dir = worktree(made.git, 'headrace/f')!;
  const raw = tarOf([{ path: '.headrace-patch.json', content: '{"delete":["README.md"]}' }]);
  const turn = turnOf({ mode: 'worktree', prompt: sh('echo late > late.txt') });
  const all = async (line: TestHost['line'], fence: number) => [
    await line.ask('/workspaces/thr_1', { method: 'PUT', body: wanted, ...by(fence) }),
    await line.ask('/workspaces/thr_1/patch', { method: 'POST', raw, ...by(fence) }),
    await line.ask('/tasks/run_1', { method: 'POST', body: turn, ...by(fence) }),
    await line.ask('/workspaces/thr_1', { method: 'DELETE', ...by(fence) }),
  ];
  const refused = Array(4).fill('superseded');
  const codes = (answers: Awaited<ReturnType<typeof all>>) => answers.map(({ json }) => json?.error.code);
  expect(codes(await all(made.line, 1))).toEqual(refused);
  await made.stop();
  const again = await startHost({ folder: made.folder, state: made.state });
  hosts.push(again);
  expect(codes(await all(again.line, 1))).toEqual(refused);
  expect([existsSync(join(dir, 'README.md')), existsSync(join(dir, 'late.txt'))]).toEqual([true, false]);
  const removed = await again.line.ask('/workspaces/thr_1', { method: 'DELETE', ...by(2) });
  expect([removed.status, existsSync(dir)]).toEqual([204, false]);
});

describe('a capture', () => {
  test('has what git does not ignore, but for dependencies, links and reserved folders', async () => {
    const { line, folder } = await host({
      '.gitignore': '*.log\nbuild/\n',
      'a.txt': 'a\n',
      'sub/b.txt': 'b\n',
    });
    fill(folder, {
      'debug.log': 'x',
      'build/out': 'x',
      'node_modules/x/index.js': 'x',
      '.context/n': 'n',
      'new.txt': 'n\n',
      'sub/.gitignore': 'env\n',
      'sub/env': 'KEY=1',
    });
    symlinkSync('/etc/passwd', join(folder, 'link'));
    await line.put('/workspaces/thr_1', { binding: 'site', mode: 'direct', branch: 'headrace/x' });
    const { json } = await line.post('/workspaces/thr_1/capture', { basePaths: [] });
    const paths = json.files.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['.gitignore', 'a.txt', 'new.txt', 'sub/.gitignore', 'sub/b.txt']);
    expect(json.warnings).toContainEqual({ path: 'link', reason: 'symlink' });
    const tar = await line.post('/workspaces/thr_1/blobs', { paths: ['a.txt', 'sub/b.txt'] });
    expect([...tarFiles(tar.body)].map(({ path, content }) => [path, content.toString()])).toEqual([
      ['a.txt', 'a\n'],
      ['sub/b.txt', 'b\n'],
    ]);
    writeFileSync(join(folder, 'a.txt'), 'changed\n');
    const late = await line.post('/workspaces/thr_1/blobs', { paths: ['a.txt'] });
    expect([late.status, late.json.error.code]).toEqual([409, 'changed']);
  });

  test('whose connection ends before its files are sent holds nothing up', async () => {
    const made = await host();
    const paths = Array.from({ length: 3_000 }, (_, i) => `many/${i}.txt`);
    fill(made.folder, Object.fromEntries(paths.map((path) => [path, 'x'])));
    await made.line.put('/workspaces/thr_1', { binding: 'site', mode: 'direct', branch: 'headrace/x' });
    await made.line.post('/workspaces/thr_1/capture', { basePaths: [] });
    const files = made.line.post('/workspaces/thr_1/blobs', { paths });
    files.catch(() => {});
    // Answered while the files before it are looked at.
    await made.line.ask('/status');
    made.line.socket.terminate();
    const next = await made.service.line();
    const again = async () => (await next.post('/workspaces/thr_1/capture', { basePaths: [] })).status;
    await expect.poll(again, WAIT).toBe(200);
  });

  test('has the same without a repository', async () => {
    const files = {
      '.gitignore': '*.log\nbuild/\n',
      'a.txt': 'a\n',
      'sub/.gitignore': 'env\n',
      'sub/b.txt': 'b\n',
    };
    const { line, folder } = await host(files, false);
    fill(folder, {
      'debug.log': 'x',
      'build/out': 'x',
      'sub/env': 'x',
      'node_modules/x/i.js': 'x',
      '.hoplite/x': 'x',
    });
    await line.put('/workspaces/thr_1', { binding: 'site', mode: 'direct', branch: 'headrace/x' });
    const { json } = await line.post('/workspaces/thr_1/capture', { basePaths: [] });
    expect(json.files.map(({ path }: { path: string }) => path)).toEqual(Object.keys(files));
  });
});

describe('a turn', () => {
  test('works in the folder, once for its id', async () => {
    const { line, folder } = await host();
    await line.put('/workspaces/thr_1', { binding: 'site', mode: 'direct', branch: 'headrace/x' });
    const request = turnOf({ prompt: sh('echo one >> count.txt; echo said-it') });
    expect((await line.post('/tasks/run_1', request)).status).toBe(201);
    expect((await line.post('/tasks/run_1', request)).status).toBe(200);
    const entries = await line.journal('run_1');
    expect(entries.at(-1)).toMatchObject({ type: 'end', outcome: 'completed', error: null });
    expect(JSON.stringify(entries)).toContain('said-it');
    expect((await line.ask('/tasks/run_1', { method: 'DELETE' })).status).toBe(204);
    expect((await line.post('/tasks/run_1', request)).status).toBe(410);
    expect(readFileSync(join(folder, 'count.txt'), 'utf8')).toBe('one\n');
  });

  test('asks first where it is told to, and is steered by nobody that it does not know', async () => {
    const { line, folder } = await host();
    await line.put('/workspaces/thr_1', { binding: 'site', mode: 'direct', branch: 'headrace/x' });
    await line.post('/tasks/run_1', turnOf({ prompt: sh('echo x > asked.txt'), permissions: 'ask' }));
    const asked = await line.journal('run_1', ({ type }) => type === 'permission');
    const question = asked.at(-1) as { requestId: string };
    expect(existsSync(join(folder, 'asked.txt'))).toBe(false);
    expect((await line.post(`/tasks/run_1/permissions/${question.requestId}`, { allow: true })).status).toBe(
      204,
    );
    expect((await line.journal('run_1')).at(-1)).toMatchObject({ outcome: 'completed' });
    expect(existsSync(join(folder, 'asked.txt'))).toBe(true);
    expect((await line.post('/tasks/run_1/steer', { id: 'm', prompt: 'x' })).status).toBe(409);
  });

  test('is ended with all that it started, also what left its group', async () => {
    const { line, folder } = await host();
    await line.put('/workspaces/thr_1', { binding: 'site', mode: 'direct', branch: 'headrace/x' });
    const beat = (name: string) => `while :; do echo >> ${name}; sleep 0.05; done`;
    const prompt = sh(`setsid sh -c '${beat('far')}' & trap '' TERM; ${beat('near')}`);
    await line.post('/tasks/run_1', turnOf({ prompt }));
    await expect.poll(() => ['near', 'far'].every((name) => existsSync(join(folder, name))), WAIT).toBe(true);
    expect((await line.post('/tasks/run_2', turnOf({}))).json.error.code).toBe('busy');
    expect((await line.post('/workspaces/thr_1/capture', { basePaths: [] })).json.error.code).toBe('busy');
    expect((await line.post('/tasks/run_1/cancel')).status).toBe(204);
    const sizes = () => ['near', 'far'].map((name) => readFileSync(join(folder, name)).length);
    const before = sizes();
    expect((await line.journal('run_1')).at(-1)).toMatchObject({ outcome: 'cancelled' });
    expect((await line.post('/workspaces/thr_1/capture', { basePaths: [] })).status).toBe(200);
    expect(sizes()).toEqual(before);
  });

  test('does not know the token', async () => {
    process.env['HEADRACE_HOST_TOKEN'] = 'hrh_secret';
    try {
      const { line } = await host();
      await line.put('/workspaces/thr_1', { binding: 'site', mode: 'direct', branch: 'headrace/x' });
      await line.post('/tasks/run_1', turnOf({ prompt: sh('env') }));
      expect(JSON.stringify(await line.journal('run_1'))).not.toContain('hrh_secret');
    } finally {
      delete process.env['HEADRACE_HOST_TOKEN'];
    }
  });
});

describe('the connection', () => {
  test('breaks without harm to a turn, whose journal is read on', async () => {
    const made = await host();
    const { line, folder } = made;
    await line.put('/workspaces/thr_1', { binding: 'site', mode: 'direct', branch: 'headrace/x' });
    await line.post(
      '/tasks/run_1',
      turnOf({ prompt: sh('touch began; until [ -e go ]; do sleep 0.05; done') }),
    );
    const seen = await line.journal('run_1', ({ type }) => type === 'ready');
    line.socket.terminate();
    const next = await made.service.line();
    writeFileSync(join(folder, 'go'), '');
    const rest = await next.journal('run_1', undefined, seen.at(-1)!.offset + 1);
    const offsets = [...seen, ...rest].map(({ offset }) => offset);
    expect(new Set(offsets).size).toBe(offsets.length);
    expect(rest.at(-1)).toMatchObject({ type: 'end', outcome: 'completed' });
  });

  test('that breaks often is soon there again, each time', async () => {
    const made = await host();
    for (let { line } = made; made.waits.length < 3; line = await made.service.line()) {
      const from = performance.now();
      await expect.poll(() => performance.now() - from, WAIT).toBeGreaterThan(1_100);
      line.socket.terminate();
      const count = made.waits.length;
      await expect.poll(() => made.waits.length, WAIT).toBe(count + 1);
    }
    expect(made.waits.filter((ms) => ms > 1_000)).toEqual([]);
  });

  test('that is refused slowly is tried again later and later', async () => {
    const made = await host();
    made.service.refuse(503, 1_100);
    made.line.socket.terminate();
    await expect.poll(() => made.waits.length, WAIT).toBe(3);
    // The first is that of the connection which ended.
    expect(made.waits[2]).toBeGreaterThan(1_900);
  });

  test.each([4001, 4003, 4004])('closed with %i, the program ends and says why', async (code) => {
    const { line, ended } = await host();
    line.socket.close(code, 'This is why.');
    expect(await ended).toBe('This is why.');
  });

  test('refused with 401, the program ends; with 503 it tries again', async () => {
    const made = await host();
    made.service.refuse(503);
    made.line.socket.terminate();
    await expect.poll(() => made.away.length, WAIT).toBeGreaterThan(1);
    made.service.refuse(401);
    expect(await made.ended).toContain('refuses the token');
  });
});

describe('the next program', () => {
  test('ends what a killed one has left, and says so', async () => {
    const made = await host();
    const { line } = made;
    await line.put('/workspaces/thr_1', { binding: 'site', mode: 'direct', branch: 'headrace/x' });
    await line.post('/tasks/run_1', turnOf({ prompt: sh('sleep 100') }));
    await line.journal('run_1', ({ type }) => type === 'tool');
    await made.stop();
    const again = await startHost({ folder: made.folder, state: made.state });
    hosts.push(again);
    const entries = await again.line.journal('run_1');
    expect(entries.at(-1)).toMatchObject({ outcome: 'failed', error: { code: 'sandbox_lost' } });
    expect((await again.line.post('/tasks/run_1', turnOf({}))).status).toBe(200);
    expect((await again.line.ask('/status')).json.workspaces).toEqual(['thr_1']);
  });
});
