/** Threads at hosts, with the real program in this process: its connection, runs over it, and what becomes of them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openDatabase } from '../db/database.ts';
import { transaction } from '../db/transaction.ts';
import { localFolder } from '../scm/local/folders.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok, refusal, sh, until } from '../threads/threads.fixture.ts';
import { atHost } from './at-host.ts';
import { startLine, startProgram, startTestHost } from './hosts.fixture.ts';
import type { TestHost } from './hosts.fixture.ts';
import { HostHub } from './hub.ts';
import { beginConnection, hostDelaySeconds, numberConnection } from './store.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let s: TestServer;
let host: TestHost;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_HOST_GRACE_SECONDS: '10' });
});
afterAll(async () => {
  await s?.close();
});
beforeEach(async () => {
  host = await startTestHost(s);
});
afterEach(async () => {
  await host.stop();
  host.remove();
});

async function newThread(fields: Record<string, unknown> = {}, at = host): Promise<string> {
  const { project } = await ok(s.call('POST', '/api/projects', { name: 'n' }));
  const { thread } = await ok(
    s.call('POST', '/api/threads', { projectId: project.id, executionTarget: at.target(), ...fields }),
  );
  await until(
    'the thread to be prepared',
    async () => (await read(thread.id)).initializationState === 'completed',
  );
  return thread.id;
}
const read = async (id: string) => (await ok(s.call('GET', `/api/threads/${id}`))).thread;
const say = async (id: string, content: string): Promise<string> =>
  (await ok(s.call('POST', `/api/threads/${id}/messages`, { content }))).run.id;
async function ended(id: string, runId: string) {
  return until('the run to end', async () => {
    const { run } = await ok(s.call('GET', `/api/threads/${id}/runs/${runId}`));
    return ['completed', 'failed', 'cancelled'].includes(run.status) && run;
  });
}
const at = (name: string) => join(host.folder, name);
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a run works in the folder, and costs nothing', async () => {
  const id = await newThread();
  const run = await ended(id, await say(id, sh('echo done > done.txt')));
  expect([run.status, run.agent, run.usage.costMicros]).toEqual(['completed', 'agent_a', 0]);
  expect(readFileSync(at('done.txt'), 'utf8')).toBe('done\n');
  const thread = await read(id);
  expect([thread.latestSourceId, thread.workspaceStatus]).toEqual([run.resultSourceId, 'ready']);
});

test('a message waits for a host that is away; a run that is under way fails after the grace, and its folder stays', async () => {
  const id = await newThread();
  const lost = await say(id, sh('touch began; sleep 60'));
  await until('the run to work', () => existsSync(at('began')));
  await host.stop();
  const failed = await ended(id, lost);
  expect([failed.status, failed.error.code, existsSync(at('began'))]).toEqual(['failed', 'host_lost', true]);
  const waiting = await say(id, sh('test -e began && echo after > after.txt'));
  await until('it to wait for the host', async () => (await read(id)).waitingOn.includes(`host:${host.id}`));
  const program = startProgram(s, host);
  expect((await ended(id, waiting)).status).toBe('completed');
  expect(existsSync(at('after.txt'))).toBe(true);
  await program.stop();
  await host.is('offline');
  // Nothing waits for it now.
  expect((await read(id)).waitingOn).toEqual([]);
});

test('a stop counts at once while the host is away, which ends the agent when it is back', async () => {
  const line = await startLine(s);
  const other = await startTestHost(s, { url: line.url });
  const there = (name: string) => join(other.folder, name);
  try {
    const id = await newThread({}, other);
    const run = await say(id, sh('echo half > half.txt; echo $$ > pid; sleep 60; echo never > never.txt'));
    await until(
      'the agent to work',
      () => existsSync(there('pid')) && readFileSync(there('pid'), 'utf8') !== '',
    );
    line.cut();
    await other.is('offline');
    await until('the job to be put off', async () =>
      (await s.service.ctx.db.selectFrom('jobs').select('waits_for').execute()).some(
        ({ waits_for: reason }) => reason === `host:${other.id}`,
      ),
    );
    const stoppedAt = performance.now();
    await ok(s.call('POST', `/api/threads/${id}/stop`, {}));
    expect((await ended(id, run)).status).toBe('cancelled');
    // Before the grace is over, when the run is looked at anyway.
    expect(performance.now() - stoppedAt).toBeLessThan(5_000);
    line.mend();
    await other.is('online');
    const pid = Number(readFileSync(there('pid'), 'utf8'));
    await until('the agent to end', () => !isAlive(pid));
    const next = await ended(id, await say(id, sh('test -e half.txt && echo whole > whole.txt')));
    expect([next.status, existsSync(there('whole.txt'))]).toEqual(['completed', true]);
  } finally {
    await other.stop();
    other.remove();
    line.close();
  }
});

test('a second program replaces the first, a new token ends its connection, and the program says so', async () => {
  const second = startProgram(s, { ...host, state: join(host.state, 'second') });
  expect(await host.ended).toMatch(/another program/i);
  await host.is('online');
  await ok(s.call('POST', `/api/hosts/${host.id}/token`, {}, { cookie: host.cookie }));
  expect(await second.ended).toMatch(/token/i);
  await host.is('offline');
});

test('a connection that was dialed before the one of now, and begins after it, replaces nothing', async () => {
  const { ctx } = s.service;
  const row = () =>
    ctx.db.selectFrom('hosts').selectAll().where('id', '=', host.id).executeTakeFirstOrThrow();
  const epoch = await numberConnection(ctx.db);
  await host.stop();
  await host.is('offline');
  const program = startProgram(s, host);
  await host.is('online');
  const { token_hash: tokenHash, socket } = await row();
  const late = { hostId: host.id, epoch, tokenHash: tokenHash!, processId: ctx.processId, place: '/late' };
  const status = {
    version: '1',
    providers: [],
    share: 'owner' as const,
    bindings: [],
    tasks: [],
    workspaces: [],
  };
  expect(await transaction(ctx, (tx) => beginConnection(tx, late, status))).toBe('replaced');
  expect((await row()).socket).toBe(socket);
  await program.stop();
});

test('work that is put off until its host connects is not missed by a host that connects meanwhile', async () => {
  const { ctx } = s.service;
  const delay = (tx: Parameters<typeof hostDelaySeconds>[0]) => hostDelaySeconds(tx, host.id, 60);
  expect(await transaction(ctx, delay)).toBe(1);
  await host.stop();
  await host.is('offline');
  const program = await transaction(ctx, async (tx) => {
    expect(await delay(tx)).toBe(60);
    const begun = startProgram(s, host);
    await until('the host to wait for this transaction', async () => {
      const { rows } = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%"hosts"%'`.execute(
        ctx.db,
      );
      return rows.length > 0;
    });
    return begun;
  });
  await host.is('online');
  await program.stop();
});

test('a dial while the database is away is answered with 503', async () => {
  const { ctx } = s.service;
  const away = openDatabase({ connectionString: 'postgresql://127.0.0.1:1/none' });
  const hub = new HostHub({ ...ctx, db: away.db, processId: `${ctx.processId}-away` });
  const [near, far] = duplexPair();
  const request = {
    url: '/api/hosts/connect',
    headers: { authorization: `Bearer ${host.token}` },
    socket: near,
  };
  hub.upgrade(request as unknown as IncomingMessage, near, Buffer.alloc(0));
  expect(await text(far)).toMatch(/^HTTP\/1\.1 503 [^]*"code":"unavailable"/);
  await hub.close();
  await away.close();
});

test('with a host go its runs: those under way, and those that wait', async () => {
  const id = await newThread();
  const active = await say(id, sh('touch began; sleep 60'));
  await until('the run to work', () => existsSync(at('began')));
  await ok(s.call('DELETE', `/api/hosts/${host.id}`, undefined, { cookie: host.cookie }));
  expect((await ended(id, active)).error.code).toBe('host_lost');
  expect(await refusal(s.call('POST', `/api/threads/${id}/messages`, { content: 'n' }))).toBe(
    '409 host_offline',
  );
});

test('a worker that was taken for dead removes no worktree at a host', async () => {
  const other = await startTestHost(s, { isGit: true });
  try {
    const id = await newThread({ executionTarget: other.target({ workspaceMode: 'worktree' }) });
    const { runner } = atHost(s.service.ctx, (await read(id)).executionTarget);
    await expect(runner.deleteWorkspace(id, 1)).rejects.toMatchObject({ code: 'superseded' });
    expect(await runner.workspaceExists(id)).toBe(true);
  } finally {
    await other.stop();
    other.remove();
  }
});

test('one run at a time works in a folder, whichever thread it is of', async () => {
  const [a, b] = [await newThread(), await newThread()];
  const first = await say(a, sh('touch began; until [ -e go ]; do sleep 0.1; done; echo a >> order'));
  await until('the run to work', () => existsSync(at('began')));
  const second = await say(b, sh('echo b >> order'));
  await until('the other to be held back', async () => (await read(b)).waitingOn.includes('capacity'));
  // Its host is there.
  expect((await read(b)).waitingOn).toEqual(['capacity']);
  writeFileSync(at('go'), '');
  expect([(await ended(a, first)).status, (await ended(b, second)).status]).toEqual([
    'completed',
    'completed',
  ]);
  expect(readFileSync(at('order'), 'utf8')).toBe('a\nb\n');
});

test('in a project with a repository a worktree becomes a pull request, upon the commit of the folder', async () => {
  const { repository } = await ok(
    s.call('POST', '/api/source-control/scm/repositories', {
      name: 'site',
      files: [{ path: 'app.js', content: 'one\n' }],
    }),
  );
  const { project } = await ok(s.call('POST', '/api/projects', { name: 'n', repositoryId: repository.id }));
  const other = await startTestHost(s, { clone: localFolder(s.service.ctx.config, repository.id) });
  const begin = async () => {
    const executionTarget = other.target({ workspaceMode: 'worktree' });
    const { thread } = await ok(s.call('POST', '/api/threads', { projectId: project.id, executionTarget }));
    await until('the thread to be prepared', async () => (await read(thread.id)).sourceId !== null);
    return thread.id as string;
  };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Kim', '-c', 'user.email=kim@example.com', ...args], {
      cwd: other.folder,
    })
      .toString()
      .trim();
  try {
    const id = await begin();
    expect((await read(id)).baseCommitSha).toBe(git('rev-parse', 'HEAD'));
    expect((await ended(id, await say(id, sh('echo two > app.js')))).status).toBe('completed');
    const { pullRequest } = await ok(s.call('POST', `/api/threads/${id}/pull-requests`, { title: 'Two' }));
    expect(git('fetch', '--quiet', 'origin', pullRequest.headRef)).toBe('');
    expect(git('show', 'FETCH_HEAD:app.js')).toBe('two');
    // A commit that the repository does not have.
    git('commit', '--quiet', '--allow-empty', '--message', 'Mine');
    const second = await begin();
    expect((await ended(second, await say(second, sh('echo three > app.js')))).status).toBe('completed');
    expect((await read(second)).baseCommitSha).toBe(null);
    expect(await refusal(s.call('POST', `/api/threads/${second}/pull-requests`, { title: 'Three' }))).toBe(
      '409 conflict',
    );
  } finally {
    await other.stop();
    other.remove();
  }
});

test('a worktree goes with its archived thread, and comes back with its files', async () => {
  const other = await startTestHost(s, { isGit: true });
  const branches = () =>
    execFileSync('git', ['worktree', 'list', '--porcelain'], { cwd: other.folder }).toString();
  try {
    const id = await newThread({ executionTarget: other.target({ workspaceMode: 'worktree' }) });
    expect(branches()).toContain(`refs/heads/headrace/${id.slice(-6)}`);
    await ended(id, await say(id, sh('echo kept > kept.txt; rm README.md')));
    await ok(s.call('PATCH', `/api/threads/${id}`, { archived: true }));
    await until('the worktree to go', () => !branches().includes('headrace/'));
    await ok(s.call('PATCH', `/api/threads/${id}`, { archived: false }));
    const run = await ended(id, await say(id, sh('test -e kept.txt && test ! -e README.md')));
    expect(run.status).toBe('completed');
  } finally {
    await other.stop();
    other.remove();
  }
});

test('a worker beside the API reaches the host through it', async () => {
  const api = await startTestServer({ HEADRACE_ROLES: 'api' });
  const worker = await startTestServer({ HEADRACE_ROLES: 'worker' }, api);
  const other = await startTestHost(api);
  try {
    const { project } = await ok(api.call('POST', '/api/projects', { name: 'n' }));
    const { thread } = await ok(
      api.call('POST', '/api/threads', {
        projectId: project.id,
        executionTarget: other.target(),
        message: { content: sh('echo done > done.txt') },
      }),
    );
    await until(
      'the run to end',
      async () => {
        const { thread: now } = await ok(api.call('GET', `/api/threads/${thread.id}`));
        return now.runStatus === 'completed';
      },
      60_000,
    );
    expect(existsSync(join(other.folder, 'done.txt'))).toBe(true);
  } finally {
    await other.stop();
    other.remove();
    await worker.close();
    await api.close();
  }
});

test('what a thread at a host does not have is refused', async () => {
  const id = await newThread();
  const { latestSourceId: expectedSourceId } = await read(id);
  const post = (path: string, body: object) => refusal(s.call('POST', `/api/threads/${id}/${path}`, body));
  expect([
    await post('exec', { command: 'true' }),
    await post('edits', { expectedSourceId, changes: [{ path: 'a', content: 'b' }] }),
    await post('fork', {}),
    await post('restore', { sourceId: expectedSourceId }),
  ]).toEqual(Array(4).fill('409 unsupported_on_host'));
});

test('a run whose host is away leaves its worker to other runs, and goes on when the host is back', async () => {
  const single = await startTestServer({ HEADRACE_RUN_CONCURRENCY: '1' });
  const line = await startLine(single);
  const away = await startTestHost(single, { url: line.url });
  try {
    const { project } = await ok(single.call('POST', '/api/projects', { name: 'n' }));
    const { thread } = await ok(
      single.call('POST', '/api/threads', { projectId: project.id, executionTarget: away.target() }),
    );
    const path = `/api/threads/${thread.id}`;
    await until(
      'the thread to be prepared',
      async () => (await ok(single.call('GET', path))).thread.initializationState === 'completed',
    );
    const done = join(away.folder, 'done');
    const waiting = async () =>
      (await single.service.ctx.db.selectFrom('jobs').select('waits_for').execute()).some(
        ({ waits_for: reason }) => reason === `host:${away.id}`,
      );
    const content = sh(`touch began; while [ ! -e go ]; do sleep 0.1; done; touch done`);
    const { run } = await ok(single.call('POST', `${path}/messages`, { content }));
    await until('the run to work', () => existsSync(join(away.folder, 'began')));
    line.cut();
    await until('the job to be put off', waiting);
    const statusOf = async (of: string, id: string) =>
      (await ok(single.call('GET', `/api/threads/${of}/runs/${id}`))).run.status;
    const { source } = await ok(
      single.call('POST', `/api/projects/${project.id}/sources`, { files: [{ path: 'a', content: 'a' }] }),
    );
    const { thread: free } = await ok(
      single.call('POST', '/api/threads', { projectId: project.id, sourceId: source.id }),
    );
    const { run: other } = await ok(
      single.call('POST', `/api/threads/${free.id}/messages`, { content: sh('true') }),
    );
    await until('the other run to end', async () => (await statusOf(free.id, other.id)) === 'completed');
    expect([await statusOf(thread.id, run.id), existsSync(done)]).toEqual(['running', false]);
    writeFileSync(join(away.folder, 'go'), '');
    await until('the agent to go on', () => existsSync(done));
    line.mend();
    await until('the run to end', async () => (await statusOf(thread.id, run.id)) === 'completed');
  } finally {
    await away.stop();
    away.remove();
    line.close();
    await single.close();
  }
});
