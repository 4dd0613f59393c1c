import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../test-server.ts';
import type { TestServer } from '../test-server.ts';
import { newBench, ok, refusal, sh, until } from '../threads/fixture.ts';
import type { Bench } from '../threads/fixture.ts';

let s: TestServer;
beforeAll(async () => { s = await startTestServer(); });
afterAll(async () => { await s?.close(); });

/** As if its deadline had passed. */
const idle = (b: Bench) => s.service.ctx.db.updateTable('threads').set({ idle_expires_at: sql<Date>`now() - interval '1 second'` }).where('id', '=', b.threadId).execute();
const reached = (b: Bench, status: string) => until(`workspace ${status}`, async () => (await b.thread()).workspaceStatus === status);
const history = async (b: Bench) => (await b.list('workspace/history')).map((r: { from: string; to: string; reason: string }) => `${r.from} ${r.to}`).toReversed();

describe('policy', () => {
  test('is none at first; activity saves it and sets the deadline; a replay does not renew it', async () => {
    const b = await newBench(s);
    const before = await ok(s.call('GET', `${b.at}/workspace/policy`));
    expect(before).toMatchObject({ policy: null, workspaceStatus: 'ready' });
    const idem = randomUUID();
    const report = (key: string, minutes = 2) => s.call('POST', `${b.at}/workspace/activity`, { idleTimeoutMinutes: minutes }, { idem: key });
    const first = await ok(report(idem));
    expect(first).toMatchObject({ policy: { idleTimeoutMinutes: 2 }, workspaceStatus: 'ready' });
    expect(Math.abs(Date.parse(first.expiresAt) - Date.now() - 120_000)).toBeLessThan(5_000);
    const renewed = await ok(report(randomUUID(), 3));
    expect((await report(idem)).headers.get('idempotent-replayed')).toBe('true');
    expect(await ok(s.call('GET', `${b.at}/workspace/policy`))).toEqual(renewed);
    for (const minutes of [0, 61, 1.5]) expect(await refusal(report(randomUUID(), minutes))).toBe('400 invalid_request /idleTimeoutMinutes');
    expect(await b.during(() => report(randomUUID()))).toEqual([]);
  });

  test('a completed run and an edit start a fresh interval', async () => {
    const b = await newBench(s);
    await ok(s.call('POST', `${b.at}/workspace/activity`, { idleTimeoutMinutes: 60 }));
    const old = new Date(Date.now() + 5_000);
    const forget = () => s.service.ctx.db.updateTable('threads').set({ idle_expires_at: old }).where('id', '=', b.threadId).execute();
    const deadline = async () => Date.parse((await ok(s.call('GET', `${b.at}/workspace/policy`))).expiresAt) - Date.now();
    await forget();
    const { resultSourceId } = await b.work(sh('echo b > b.txt'));
    expect(await deadline()).toBeGreaterThan(3_500_000);
    await forget();
    await ok(s.call('POST', `${b.at}/edits`, { expectedSourceId: resultSourceId, changes: [{ path: 'c', content: 'c' }] }));
    expect(await deadline()).toBeGreaterThan(3_500_000);
  });
});

describe('idle', () => {
  test('its workspace is archived, and comes back with the next message; each change is one record and one event', async () => {
    const b = await newBench(s);
    const { resultSourceId } = await b.work(sh('echo kept > kept.txt; mkdir -p node_modules; echo gone > node_modules/x'));
    const words = await b.during(async () => {
      await idle(b);
      await reached(b, 'archived');
    });
    expect(words).toEqual(['workspace.recovery.updated']);
    expect(await s.service.ctx.runner.workspaceExists(b.threadId)).toBe(false);
    expect((await b.list('workspace/history'))[0]).toMatchObject({ from: 'ready', to: 'archived', reason: 'idle', sourceId: resultSourceId, runId: null });
    expect(await b.thread()).toMatchObject({ status: 'ready', workspaceSetupStatus: 'ready' });
    let run: { id: string; resultSourceId: string };
    const back = await b.during(async () => { run = await b.work(sh('cat kept.txt > seen; ls >> seen')); }, /^(workspace|run)/);
    expect(back).toEqual(['run.queued', 'workspace.recovery.updated', 'workspace.recovery.updated', 'run.running', 'run.completed']);
    expect((await b.files(run!.resultSourceId)).seen).toBe('kept\nkept.txt\na.txt\nkept.txt\nseen\n'.replace('kept\nkept.txt\n', 'kept\n'));
    expect(await history(b)).toEqual(['null preparing', 'preparing ready', 'ready archived', 'archived preparing', 'preparing ready']);
    expect((await b.list('workspace/history'))[0].runId).toBe(run!.id);
  });

  test('not while work is under way: a run, a waiting message, a command', async () => {
    const b = await newBench(s);
    const { run } = await b.send(sh('sleep 60'));
    await b.working(run.id);
    await idle(b);
    // The sweep looks once a second: it has looked when another, idle thread is archived.
    const other = await newBench(s);
    await idle(other);
    await reached(other, 'archived');
    expect((await b.thread()).workspaceStatus).toBe('ready');
    await ok(s.call('POST', `${b.at}/stop`, {}));
    await b.ended(run.id);
    expect(await history(b)).toEqual(['null preparing', 'preparing ready']);
  });

  test('what stands in no source is kept as a recovery source before the workspace goes', async () => {
    const b = await newBench(s);
    // A process that outlives its command, as far as the service can tell: files that come behind its capture.
    const { ctx } = s.service;
    const tar = pack();
    tar.entry({ name: '.headrace-patch.json' }, '{"delete":[]}');
    tar.entry({ name: 'late.txt' }, 'late\n');
    tar.finalize();
    const parts: Buffer[] = [];
    for await (const part of tar) parts.push(part as Buffer);
    await ctx.runner.patch(b.threadId, Buffer.concat(parts));
    const words = await b.during(async () => {
      await idle(b);
      await reached(b, 'archived');
    });
    expect(words).toEqual(['platform.source.imported', 'checkpoint.created', 'workspace.recovery.updated']);
    const [saved] = await b.list('checkpoints');
    expect([saved.kind, await b.files(saved.sourceId), (await b.list('workspace/history'))[0].sourceId]).toEqual(['recovery', { 'a.txt': 'a\n', 'late.txt': 'late\n' }, saved.sourceId]);
  });

  test('an end that is not confirmed is cleanup_pending, and confirmed later; a message then gets a new one', async () => {
    const b = await newBench(s);
    const { ctx } = s.service;
    const { deleteWorkspace } = ctx.runner;
    ctx.runner.deleteWorkspace = async (id) => { if (id === b.threadId) throw new Error('not confirmed'); return deleteWorkspace(id); };
    await idle(b);
    await reached(b, 'cleanup_pending');
    ctx.runner.deleteWorkspace = deleteWorkspace;
    expect((await b.work('Hello.')).status).toBe('completed');
    expect((await history(b)).slice(0, 4)).toEqual(['null preparing', 'preparing ready', 'ready cleanup_pending', 'cleanup_pending archived']);
    expect((await b.thread()).workspaceStatus).toBe('ready');
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
    const failed = await until('the preparation to fail', async () => { const t = (await ok(s.call('GET', at))).thread; return t.initializationState === 'failed' && t; });
    ctx.runner.putWorkspace = putWorkspace;
    expect(failed).toMatchObject({ status: 'failed', initializationAttemptCount: 3, initializationErrorCode: 'workspace_unavailable', initializationPhase: null, workspaceStatus: 'error', workspaceSetupStatus: 'failed', runStatus: 'failed' });
    expect((await ok(s.call('GET', `${at}/runs/${run.id}`))).run).toMatchObject({ startedAt: null, error: { code: 'workspace_unavailable' } });
    const again = await ok(s.call('POST', `${at}/messages`, { content: 'Again.' }));
    expect((await ok(s.call('GET', `${at}/runs/${again.run.id}?waitSeconds=30`))).run.status).toBe('completed');
    expect((await ok(s.call('GET', at))).thread).toMatchObject({ status: 'ready', initializationState: 'completed', initializationAttemptCount: 1, initializationErrorCode: null });
  });

  test('is cancelled by an archive, and done anew after it', async () => {
    const { ctx } = s.service;
    const b = await newBench(s);
    const { putWorkspace } = ctx.runner;
    const held = Promise.withResolvers<void>();
    ctx.runner.putWorkspace = async (...args) => { await held.promise; return putWorkspace(...args); };
    const { thread } = await ok(s.call('POST', `${b.app}/threads`, {}));
    const at = `${b.app}/threads/${thread.id}`;
    const read = async () => (await ok(s.call('GET', at))).thread;
    await until('its preparation', async () => (await read()).initializationState === 'preparing');
    expect((await ok(s.call('PATCH', at, { archived: true }))).thread).toMatchObject({ status: 'archived', initializationState: 'cancelled', workspaceStatus: 'cancelled' });
    ctx.runner.putWorkspace = putWorkspace;
    held.resolve();
    expect((await ok(s.call('PATCH', at, { archived: false }))).thread.status).toBe('ready');
    const { run } = await ok(s.call('POST', `${at}/messages`, { content: 'Hello.' }));
    expect((await ok(s.call('GET', `${at}/runs/${run.id}?waitSeconds=30`))).run.status).toBe('completed');
    expect(await read()).toMatchObject({ status: 'ready', initializationState: 'completed', workspaceStatus: 'ready' });
  });
});

// Last: they take the runner away from everything that is there.
describe('a runner that dies', () => {
  const kill = () => process.kill(s.service.ctx.runnerStatus()!.pid, 'SIGKILL');

  test('an idle workspace is lost as `error`, and restored from the last source by the next message', async () => {
    const b = await newBench(s);
    await b.work(sh('echo kept > kept.txt'));
    kill();
    await reached(b, 'error');
    const run = await b.work(sh('cat kept.txt > seen'));
    expect((await b.files(run.resultSourceId)).seen).toBe('kept\n');
    expect((await history(b)).slice(2)).toEqual(['ready error', 'error preparing', 'preparing ready']);
  });

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
    await until('the command to run', async () => (await s.service.ctx.runner.tasks()).some((t) => t.workspaceId === b.threadId && t.kind === 'exec' && t.status === 'running'));
    kill();
    expect(await refusal(waiting)).toBe('503 source_workspace_unavailable');
    expect((await exec()).headers.get('idempotent-replayed')).toBe('true');
    expect((await b.work('Hello.')).status).toBe('completed');
  });
});
