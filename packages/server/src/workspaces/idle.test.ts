/** The idle lifecycle of a workspace, point by point. No test waits: each moves the clock of the deadlines. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newBench as newPreviewBench, visit } from '../previews/previews.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, refusal, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import {
  expectTold,
  history,
  leaveUnsaved,
  pass,
  reached,
  recoveries,
  settled,
} from './workspaces.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const report = (at: string, minutes: number, idem = randomUUID()) =>
  s.call('POST', `${at}/workspace/activity`, { idleTimeoutMinutes: minutes }, { idem });
const deadlineOf = async (at: string): Promise<number> =>
  Date.parse((await ok(s.call('GET', `${at}/workspace/policy`))).expiresAt);
const statusOf = async (b: Bench) => (await b.thread()).workspaceStatus;
/** The clock of the deadlines. */
const clock = () => Date.now() + s.service.ctx.clock.offsetMs;
/**
 * Waits for a whole sweep: until another workspace, whose time is over, is archived. All that is due now is
 * enqueued by then.
 */
async function swept(): Promise<void> {
  const other = await newBench(s);
  const {
    db,
    clock: { offsetMs },
  } = s.service.ctx;
  await db
    .updateTable('threads')
    .set({ idle_expires_at: new Date(Date.now() + offsetMs - 3_600_000) })
    .where('id', '=', other.threadId)
    .execute();
  await until('the sweep', async () => (await statusOf(other)) === 'archived');
}

describe('1. The client reports activity with an idle timeout of 1 to 60 minutes', () => {
  test.each([1, 60])('%i minutes from now, by a new key; a replay does not renew it', async (minutes) => {
    const b = await newBench(s);
    const idem = randomUUID();
    const first = await ok(report(b.at, minutes, idem));
    expect(first).toMatchObject({ policy: { idleTimeoutMinutes: minutes }, workspaceStatus: 'ready' });
    expect(Math.abs(Date.parse(first.expiresAt) - clock() - minutes * 60_000)).toBeLessThan(5_000);
    pass(s, 0.5);
    expect((await ok(report(b.at, minutes, idem))).expiresAt).toBe(first.expiresAt);
    expect(await deadlineOf(b.at)).toBe(Date.parse(first.expiresAt));
    expect(
      Date.parse((await ok(report(b.at, minutes))).expiresAt) - Date.parse(first.expiresAt),
    ).toBeGreaterThanOrEqual(30_000);
  });

  test.each([0, 61, 1.5, '5', null])('%j is none', async (minutes) => {
    const b = await newBench(s);
    const before = await deadlineOf(b.at);
    expect(await refusal(report(b.at, minutes as number))).toBe('400 invalid_request /idleTimeoutMinutes');
    expect(await deadlineOf(b.at)).toBe(before);
  });
});

describe('2. The persisted deadline is checked, and once work drains the source is saved, the runtime ended, the workspace archived', () => {
  test('not before it, but after it; each is told once', async () => {
    const b = await newBench(s);
    await ok(report(b.at, 10));
    await leaveUnsaved(s, b);
    pass(s, 9.8);
    await swept();
    expect(await statusOf(b)).toBe('ready');
    pass(s, 0.3);
    await until('the archive', async () => (await statusOf(b)) === 'archived');
    expect(await recoveries(b)).toEqual([{ 'a.txt': 'a\n', 'late.txt': 'late\n' }]);
    expect(await s.service.ctx.runner.workspaceExists(b.threadId)).toBe(false);
    expect(await history(b)).toEqual(['null preparing', 'preparing ready', 'ready archived']);
    expect(await ok(s.call('GET', `${b.at}/workspace/policy`))).toMatchObject({
      expiresAt: null,
      workspaceStatus: 'archived',
      policy: { idleTimeoutMinutes: 10 },
    });
    await expectTold(s, b);
  });

  test('a run, a queued one, a command that outlast it are not disturbed, and begin a fresh interval with their end', async () => {
    const [b, c] = [await newBench(s), await newBench(s)];
    const { run } = await b.send(sh('while [ ! -e go ]; do sleep 0.1; done; echo done > done.txt'));
    const { run: next } = await b.send(sh('echo next > next.txt'));
    const exec = s.call('POST', `${c.at}/exec`, { command: 'while [ ! -e go ]; do sleep 0.1; done' });
    await b.working(run.id);
    await until('the command', async () =>
      (await s.service.ctx.runner.tasks()).some(
        (t) => t.workspaceId === c.threadId && t.status === 'running',
      ),
    );
    pass(s, 120);
    await swept();
    expect([await statusOf(b), await statusOf(c)]).toEqual(['ready', 'ready']);
    // No other work gets in while a task runs: stopped tasks drain.
    await ok(s.call('POST', `${b.at}/stop`, {}));
    await b.ended(run.id);
    await b.ended(next.id);
    await s.service.ctx.runner.cancel(
      (await s.service.ctx.runner.tasks()).find((t) => t.workspaceId === c.threadId)!.id,
    );
    await ok(exec);
    await swept();
    expect([await statusOf(b), await statusOf(c)]).toEqual(['ready', 'ready']);
    for (const { at } of [b, c])
      expect(Math.abs((await deadlineOf(at)) - clock() - 15 * 60_000)).toBeLessThan(30_000);
    pass(s, 15.1);
    for (const bench of [b, c])
      await until('the archive', async () => (await statusOf(bench)) === 'archived');
  });
});

describe('3. Completing an edit starts a fresh idle interval. Background preview polling does not extend it', () => {
  const edit = (b: Bench, expectedSourceId: string) =>
    ok(s.call('POST', `${b.at}/edits`, { expectedSourceId, changes: [{ path: 'b', content: 'b' }] }));

  test.each([
    ['an edit', (b: Bench) => edit(b, b.sourceId)],
    ['a run', (b: Bench) => b.work(sh('echo b > b.txt'))],
    ['a run that fails', (b: Bench) => b.work(sh('exit 1'), 'failed')],
    ['a command', (b: Bench) => ok(s.call('POST', `${b.at}/exec`, { command: 'true' }))],
    [
      'a restore',
      async (b: Bench) => {
        await b.work(sh('echo b > b.txt'));
        pass(s, 5);
        const [checkpoint] = await b.list('checkpoints');
        await b.ended(
          (await ok(s.call('POST', `${b.at}/checkpoints/${checkpoint.id}/restore`, {}))).result.runId,
        );
      },
    ],
  ])('%s does', async (_, work) => {
    const b = await newBench(s);
    await ok(report(b.at, 30));
    pass(s, 5);
    await work(b);
    expect(Math.abs((await deadlineOf(b.at)) - clock() - 30 * 60_000)).toBeLessThan(30_000);
    expect(await statusOf(b)).toBe('ready');
  });

  test('reading does not, nor a preview and those who look at it', async () => {
    const b = await newPreviewBench(s);
    await until(
      'the workspace',
      async () => (await ok(s.call('GET', b.threadUrl))).thread.workspaceStatus === 'ready',
    );
    await ok(report(b.threadUrl, 30));
    const deadline = await deadlineOf(b.threadUrl);
    const leave = new AbortController();
    const stream = fetch(`${s.base}${b.url}/events/stream?threadId=${b.threadId}`, {
      headers: { 'x-api-key': s.key },
      signal: leave.signal,
    });
    const preview = await b.ready();
    pass(s, 5);
    expect((await visit(s, preview.url, '/file')).text).toBe('first');
    const { socket } = await visit(s, preview.url, '/echo', {
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    });
    const echoed = new Promise((resolve) => {
      socket!.once('data', resolve);
    });
    socket!.write('ping');
    expect(String(await echoed)).toBe('ping');
    socket!.destroy();
    const at = b.threadUrl;
    for (const path of [
      `${at}/previews`,
      `${b.url}/previews/${preview.id}`,
      at,
      `${at}/messages`,
      `${at}/checkpoints`,
      `${at}/runs`,
      `${at}/workspace/policy`,
      `${at}/workspace/history`,
      `${b.url}/events?threadId=${b.threadId}`,
      `/api/threads/${b.threadId}`,
      `/api/threads/${b.threadId}/export`,
    ])
      expect([path, (await s.call('GET', path)).status]).toEqual([path, 200]);
    expect((await stream).status).toBe(200);
    await ok(s.call('PATCH', at, { title: 'Watched' }));
    expect(await deadlineOf(at)).toBe(deadline);
    // The preview goes on without the thread's workspace.
    pass(s, 25.1);
    await until(
      'the archive',
      async () => (await ok(s.call('GET', at))).thread.workspaceStatus === 'archived',
    );
    expect((await visit(s, preview.url, '/file')).text).toBe('first');
    await ok(s.call('DELETE', `${b.url}/previews/${preview.id}`));
    leave.abort();
    expect(await deadlineOf(at)).toBeNaN();
  });
});

test('4. A fault of storage or sandbox may delay the end, but never has unsaved work discarded', async () => {
  const b = await newBench(s);
  await leaveUnsaved(s, b);
  const { ctx } = s.service;
  const {
    store,
    runner: { capture },
  } = ctx;
  ctx.store = new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      return name === 'put'
        ? () => Promise.reject(new Error('away'))
        : typeof value === 'function'
          ? (value.bind(target) as unknown)
          : value;
    },
  });
  const failures = async () =>
    (
      await ctx.db
        .selectFrom('threads')
        .select('workspace_failures')
        .where('id', '=', b.threadId)
        .executeTakeFirstOrThrow()
    ).workspace_failures;
  pass(s, 20);
  await until('a try', async () => (await failures()) >= 1);
  ctx.store = store;
  ctx.runner.capture = () => Promise.reject(new Error('away'));
  const before = await failures();
  await until('another', async () => {
    pass(s, 1);
    return (await failures()) > before;
  });
  expect([await statusOf(b), await ctx.runner.workspaceExists(b.threadId)]).toEqual(['ready', true]);
  ctx.runner.capture = capture;
  await reached(s, b, 'archived');
  expect(await recoveries(b)).toEqual([{ 'a.txt': 'a\n', 'late.txt': 'late\n' }]);
});

test('6. A failed editing run leaves the last successful result unchanged', async () => {
  const b = await newBench(s);
  const { resultSourceId } = await b.work(sh('echo good > good.txt'));
  const failed = await b.work(sh('echo bad > good.txt; echo half > half.txt; exit 1'), 'failed');
  expect([failed.resultSourceId, (await b.thread()).latestSourceId, await b.files(resultSourceId)]).toEqual([
    null,
    resultSourceId,
    { 'a.txt': 'a\n', 'good.txt': 'good\n' },
  ]);
  expect(await recoveries(b)).toEqual([{ 'a.txt': 'a\n', 'good.txt': 'bad\n', 'half.txt': 'half\n' }]);
  expect((await b.files((await b.work(sh('cat good.txt > seen; ls >> seen'))).resultSourceId)).seen).toBe(
    'good\na.txt\ngood.txt\nseen\n',
  );
});

test('7. An expired sandbox is recreated from its durable source before a follow-up message runs', async () => {
  const b = await newBench(s);
  await b.work(sh('echo kept > kept.txt; mkdir -p node_modules; echo gone > node_modules/x'));
  pass(s, 15.1);
  await until('the archive', async () => (await statusOf(b)) === 'archived');
  const run = await b.work(sh('cat kept.txt > seen; ls >> seen'));
  expect((await b.files(run.resultSourceId)).seen).toBe('kept\na.txt\nkept.txt\nseen\n');
  expect((await history(b)).slice(2)).toEqual(['ready archived', 'archived preparing', 'preparing ready']);
  await settled(s, b);
  await expectTold(s, b);
});

test('a process that knows the runner by what it was a second ago takes no workspace for lost', async () => {
  const [b, first, second] = [await newBench(s), await newBench(s), await newBench(s)];
  const { ctx } = s.service;
  const { runnerStatus } = ctx;
  const stale = { ...runnerStatus()!, pid: 1 };
  ctx.runnerStatus = () => stale;
  // Sweeps follow each other: when the second workspace is found, all that the sweep before found is done.
  for (const other of [first, second]) {
    await ctx.db
      .updateTable('threads')
      .set({ idle_expires_at: new Date(0) })
      .where('id', '=', other.threadId)
      .execute();
    await until('the sweep', async () => (await statusOf(other)) === 'archived');
  }
  ctx.runnerStatus = runnerStatus;
  expect(await history(b)).toEqual(['null preparing', 'preparing ready']);
});

// Runs last: it takes the runner away from all other tests.
test('5. After a runtime that vanished, recovery uses the last saved source; what was not saved can be lost', async () => {
  const b = await newBench(s);
  const { resultSourceId } = await b.work(sh('echo kept > kept.txt'));
  await leaveUnsaved(s, b);
  process.kill(s.service.ctx.runnerStatus()!.pid, 'SIGKILL');
  await until('its loss', async () => (await statusOf(b)) === 'error');
  expect((await b.list('workspace/history'))[0]).toMatchObject({
    from: 'ready',
    to: 'error',
    reason: 'the runtime vanished',
    sourceId: resultSourceId,
  });
  const run = await b.work(sh('cat kept.txt > seen; ls >> seen'));
  expect((await b.files(run.resultSourceId)).seen).toBe('kept\na.txt\nkept.txt\nseen\n');
  expect((await history(b)).slice(2)).toEqual(['ready error', 'error preparing', 'preparing ready']);
  await expectTold(s, b);
});
