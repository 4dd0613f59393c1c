import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, refusal, sh, until } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

describe('policy', () => {
  test('is none at first; activity saves it and sets the deadline; a replay does not renew it', async () => {
    const b = await newBench(s);
    const before = await ok(s.call('GET', `${b.at}/workspace/policy`));
    expect(before).toMatchObject({ policy: null, workspaceStatus: 'ready' });
    const idem = randomUUID();
    const report = (key: string, minutes = 2) =>
      s.call('POST', `${b.at}/workspace/activity`, { idleTimeoutMinutes: minutes }, { idem: key });
    const first = await ok(report(idem));
    expect(first).toMatchObject({ policy: { idleTimeoutMinutes: 2 }, workspaceStatus: 'ready' });
    expect(Math.abs(Date.parse(first.expiresAt) - Date.now() - 120_000)).toBeLessThan(5_000);
    const renewed = await ok(report(randomUUID(), 3));
    expect((await report(idem)).headers.get('idempotent-replayed')).toBe('true');
    expect(await ok(s.call('GET', `${b.at}/workspace/policy`))).toEqual(renewed);
    for (const minutes of [0, 61, 1.5])
      expect(await refusal(report(randomUUID(), minutes))).toBe('400 invalid_request /idleTimeoutMinutes');
    expect(await b.during(() => report(randomUUID()))).toEqual([]);
  });
});

describe('preparation', () => {
  test('its third failed attempt fails it, the queued run with it; a message prepares it anew', async () => {
    const { ctx } = s.service;
    const b = await newBench(s);
    const { putWorkspace } = ctx.runner;
    ctx.runner.putWorkspace = () => Promise.reject(new Error('no room'));
    const { thread, run } = await ok(s.call('POST', `${b.app}/threads`, { message: { content: 'Hello.' } }));
    const at = `${b.app}/threads/${thread.id}`;
    const failed = await until('the preparation to fail', async () => {
      const t = (await ok(s.call('GET', at))).thread;
      return t.initializationState === 'failed' && t;
    });
    ctx.runner.putWorkspace = putWorkspace;
    expect(failed).toMatchObject({
      status: 'failed',
      initializationAttemptCount: 3,
      initializationErrorCode: 'workspace_unavailable',
      initializationPhase: null,
      workspaceStatus: 'error',
      workspaceSetupStatus: 'failed',
      runStatus: 'failed',
    });
    expect((await ok(s.call('GET', `${at}/runs/${run.id}`))).run).toMatchObject({
      startedAt: null,
      error: { code: 'workspace_unavailable' },
    });
    const again = await ok(s.call('POST', `${at}/messages`, { content: 'Again.' }));
    expect((await ok(s.call('GET', `${at}/runs/${again.run.id}?waitSeconds=30`))).run.status).toBe(
      'completed',
    );
    expect((await ok(s.call('GET', at))).thread).toMatchObject({
      status: 'ready',
      initializationState: 'completed',
      initializationAttemptCount: 1,
      initializationErrorCode: null,
    });
  });

  test('is cancelled by an archive, and done anew after it', async () => {
    const { ctx } = s.service;
    const b = await newBench(s);
    const { putWorkspace } = ctx.runner;
    const held = Promise.withResolvers<void>();
    ctx.runner.putWorkspace = async (...args) => {
      await held.promise;
      return putWorkspace(...args);
    };
    const { thread } = await ok(s.call('POST', `${b.app}/threads`, {}));
    const at = `${b.app}/threads/${thread.id}`;
    const read = async () => (await ok(s.call('GET', at))).thread;
    await until('its preparation', async () => (await read()).initializationState === 'preparing');
    expect((await ok(s.call('PATCH', at, { archived: true }))).thread).toMatchObject({
      status: 'archived',
      initializationState: 'cancelled',
      workspaceStatus: 'cancelled',
    });
    ctx.runner.putWorkspace = putWorkspace;
    held.resolve();
    expect((await ok(s.call('PATCH', at, { archived: false }))).thread.status).toBe('ready');
    const { run } = await ok(s.call('POST', `${at}/messages`, { content: 'Hello.' }));
    expect((await ok(s.call('GET', `${at}/runs/${run.id}?waitSeconds=30`))).run.status).toBe('completed');
    expect(await read()).toMatchObject({
      status: 'ready',
      initializationState: 'completed',
      workspaceStatus: 'ready',
    });
  });
});

// Run last: they take the runner away from all other tests.
describe('a runner that dies', () => {
  const kill = () => process.kill(s.service.ctx.runnerStatus()!.pid, 'SIGKILL');

  test('a running run fails as sandbox_lost, the one behind it runs, the thread works again', async () => {
    const b = await newBench(s);
    const { run } = await b.send(sh('sleep 60'));
    await b.working(run.id);
    const { run: next } = await b.send(sh('ls > seen'));
    kill();
    expect(await b.ended(run.id)).toMatchObject({ status: 'failed', error: { code: 'sandbox_lost' } });
    expect((await b.ended(next.id)).status).toBe('completed');
    expect((await b.thread()).status).toBe('ready');
  });

  test('a command is told once that nobody knows what it did, and is not run again', async () => {
    const b = await newBench(s);
    const idem = randomUUID();
    const exec = () => s.call('POST', `${b.at}/exec`, { command: 'sleep 60' }, { idem });
    const waiting = exec();
    await until('the command to run', async () =>
      (await s.service.ctx.runner.tasks()).some(
        (t) => t.workspaceId === b.threadId && t.kind === 'exec' && t.status === 'running',
      ),
    );
    kill();
    expect(await refusal(waiting)).toBe('503 source_workspace_unavailable');
    expect((await exec()).headers.get('idempotent-replayed')).toBe('true');
    expect((await b.work('Hello.')).status).toBe('completed');
  });
});
