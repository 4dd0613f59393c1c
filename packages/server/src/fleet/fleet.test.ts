import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { signedIn } from '../accounts/callers.fixture.ts';
import { openStream } from '../events/events.fixture.ts';
import { visit } from '../previews/previews.fixture.ts';
import { newApp, newBench, ok, P, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import { closeFleet, startFleet } from './fleet.fixture.ts';
import type { TestFleet, TestRunner } from './fleet.fixture.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startFleet();
});
afterAll(closeFleet);

const db = () => fleet.s.service.ctx.db;
const threadRow = async (threadId: string) =>
  db()
    .selectFrom('threads')
    .select(['runner_id', 'workspace_status'])
    .where('id', '=', threadId)
    .executeTakeFirstOrThrow();
const placesOf = async (id: string) =>
  (await db().selectFrom('runners').select('reserved').where('boot_id', '=', id).executeTakeFirstOrThrow())
    .reserved;
/** As if it had been silent for so long. */
const silence = (id: string, seconds: number) =>
  sql`update runners set last_seen_at = now() - ${seconds} * interval '1 second' where boot_id = ${id}`.execute(
    db(),
  );
const stateOf = async (id: string) => (await fleet.row(id)).state;

describe('two runners', () => {
  let a: TestRunner, b: TestRunner;
  let bench: Bench;
  const other = (id: string) => (id === a.bootId ? b : a);

  test('without a runner new work is refused; with one a thread is prepared and its run completes there', async () => {
    const { at } = await newApp(fleet.s);
    const { thread } = await ok(fleet.s.call('POST', `${at}/threads`, {}));
    const refused = await fleet.s.call('POST', `${at}/threads/${thread.id as string}/exec`, {
      command: 'true',
    });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'source_workspace_unavailable']);
    a = await fleet.runner('node-a');
    bench = await newBench(fleet.s);
    await bench.work(sh('echo hello > made.txt'));
    expect(await threadRow(bench.threadId)).toEqual({ runner_id: a.bootId, workspace_status: 'ready' });
    await until('its place to be given back', async () => (await placesOf(a.bootId)) === 0);
    const { system } = await ok(
      fleet.s.call('GET', '/api/system', undefined, { cookie: await signedIn(fleet.s) }),
    );
    expect(system.runners).toEqual([expect.objectContaining({ id: a.bootId, host: 'node-a' })]);
    expect(system.parts.find((part: { name: string }) => part.name === 'sandbox')).toMatchObject({
      status: 'ok',
    });
  });

  test('a command is streamed, and a build made and a preview shown, by a process that only answers', async () => {
    const { s: api } = await fleet.beside('api');
    const at = `${P}/apps/${bench.appId}/threads/${bench.threadId}`;
    const answer = await fetch(`${api.base}${at}/exec`, {
      method: 'POST',
      headers: {
        'x-api-key': api.key,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ command: 'echo one; sleep 0.5; echo two' }),
    });
    expect(await answer.text()).toMatch(/one[\s\S]*two[\s\S]*event: exit/);
    const { build } = await ok(
      api.call('POST', `${at}/builds`, { command: 'mkdir out && cp a.txt out', outputDirectory: 'out' }),
    );
    const { preview } = await ok(
      api.call('POST', `${at}/previews`, {
        command: "exec node -e \"require('http').createServer((q,s)=>s.end('shown')).listen(3000)\"",
        port: 3000,
      }),
    );
    await until(
      'the build',
      async () =>
        (await ok(api.call('GET', `${P}/apps/${bench.appId}/builds/${build.id as string}`))).build.status ===
        'ready',
    );
    const shown = await until('the preview', async () => {
      const now = (await ok(api.call('GET', `${P}/apps/${bench.appId}/previews/${preview.id as string}`)))
        .preview;
      return now.status === 'ready' && now;
    });
    expect((await visit(api, shown.url as string)).text).toBe('shown');
    await ok(api.call('DELETE', `${P}/apps/${bench.appId}/previews/${preview.id as string}`));
    await until('all places to be given back', async () => (await placesOf(a.bootId)) === 0);
  });

  test('the draft of a run is read at its runner by a process that only answers, until nobody listens', async () => {
    const { s: api } = await fleet.beside('api');
    const reader = await openStream(api, `${bench.app}/events/stream?threadId=${bench.threadId}`);
    const { run } = await bench.send([sh('echo one'), sh('sleep 2; echo two'), sh('sleep 300')].join('\n'));
    const shown = (text: string) =>
      until(`the draft with ${text}`, () =>
        reader.frames.find((f) => f.event === 'draft' && f.data.content.includes(text)),
      );
    const [one, two] = [await shown('one'), await shown('two')];
    expect([one.data.runId, two.data.runId]).toEqual([run.id, run.id]);
    expect(two.data.revision).toBeGreaterThan(one.data.revision);
    const late = await openStream(fleet.s, `${bench.app}/events/stream?threadId=${bench.threadId}`);
    await until('the draft as it stands', () => late.frames.some((f) => f.event === 'draft'));
    expect(late.frames.find((f) => f.event === 'draft')).toEqual(two);
    await ok(api.call('POST', `${bench.at}/stop`));
    await bench.ended(run.id as string);
    await until('its end', () => reader.frames.some((f) => f.event === 'draft.removed'));
    reader.close();
    late.close();
  });

  test('a runner that is silent for less than its lease goes on with its run', async () => {
    const { run } = await bench.send(sh('sleep 8; echo done > done.txt'));
    await bench.working(run.id as string);
    a.child.kill('SIGSTOP');
    await until('it to be suspect', async () => (await stateOf(a.bootId)) === 'suspect', 40_000);
    a.child.kill('SIGCONT');
    expect(await bench.ended(run.id as string)).toMatchObject({ status: 'completed' });
    await until('it to report again', async () => (await stateOf(a.bootId)) === 'ready');
  });

  test('the run of a runner that is killed ends as worker_lost within 35 s, and the next message is worked elsewhere', async () => {
    b = await fleet.runner('node-b');
    const { run } = await bench.send(sh('sleep 300'));
    await bench.working(run.id as string);
    const at = (await threadRow(bench.threadId)).runner_id!;
    const died = at === a.bootId ? a : b;
    const since = Date.now();
    process.kill(died.child.pid!, 'SIGKILL');
    const ended = await until(
      'its end',
      async () => {
        const now = (await ok(fleet.s.call('GET', `${bench.at}/runs/${run.id as string}`))).run;
        return now.status === 'failed' && now;
      },
      60_000,
    );
    expect(ended.error.code).toBe('worker_lost');
    expect(Date.now() - since).toBeLessThan(40_000);
    expect((await threadRow(bench.threadId)).workspace_status).toBe('error');
    await bench.work(sh('cat a.txt'));
    expect((await threadRow(bench.threadId)).runner_id).toBe(other(died.bootId).bootId);
  });

  test('a build at a runner that is lost fails only when it is gone; its end is proved then', async () => {
    const alive = other((await threadRow(bench.threadId)).runner_id!);
    await until('the other one to be lost', async () => (await stateOf(alive.bootId)) === 'lost');
    const here = (await threadRow(bench.threadId)).runner_id!;
    const { build } = await ok(
      fleet.s.call('POST', `${bench.at}/builds`, { command: 'sleep 60', outputDirectory: '.' }),
    );
    const id = build.id as string;
    const read = async () => (await ok(fleet.s.call('GET', `${bench.app}/builds/${id}`))).build;
    await until('it to build', async () => (await read()).status === 'building');
    const at = here === a.bootId ? a : b;
    process.kill(at.child.pid!, 'SIGKILL');
    await silence(here, 40);
    await until('its runner to be lost', async () => (await stateOf(here)) === 'lost');
    await until('a round of its job', async () => {
      const [job] = await db()
        .selectFrom('jobs')
        .select('attempt')
        .where('key', '=', `build:${id}`)
        .execute();
      return job && job.attempt > 1;
    });
    expect((await read()).status).toBe('building');
    await silence(here, 220);
    const failed = await until('its end', async () => {
      const now = await read();
      return now.status === 'failed' && now;
    });
    expect(failed.error.code).toBe('worker_lost');
  });
});

describe('a runner that drains', () => {
  test('takes nothing new, has its idle workspaces saved, and leaves; its threads go on elsewhere', async () => {
    const c = await fleet.runner('node-c');
    const bench = await newBench(fleet.s);
    await bench.work(sh('echo kept > kept.txt'));
    expect((await threadRow(bench.threadId)).runner_id).toBe(c.bootId);
    const { preview } = await ok(
      fleet.s.call('POST', `${bench.at}/previews`, {
        command: "exec node -e \"require('http').createServer((q,s)=>s.end('shown')).listen(3000)\"",
        port: 3000,
      }),
    );
    const previewRow = () =>
      db()
        .selectFrom('previews')
        .select(['status', 'runner_id', 'token'])
        .where('id', '=', preview.id as string)
        .executeTakeFirstOrThrow();
    await until('the preview', async () => (await previewRow()).status === 'ready');
    const { token } = await previewRow();
    const d = await fleet.runner('node-d');
    const gone = once(c.child, 'exit');
    c.child.kill('SIGTERM');
    await until('it to be draining', async () => (await fleet.row(c.bootId)).is_draining, 5_000);
    await bench.work(sh('cat kept.txt'));
    expect((await threadRow(bench.threadId)).runner_id).toBe(d.bootId);
    await until('the preview to be shown by the other one', async () => {
      const row = await previewRow();
      return row.status === 'ready' && row.runner_id === d.bootId;
    });
    expect((await previewRow()).token).toBe(token);
    await gone;
    expect(await stateOf(c.bootId)).toBe('gone');
  });

  test('saves what is in no source before its thread moves', async () => {
    const d = (
      await db()
        .selectFrom('runners')
        .select('boot_id')
        .where('name', '=', 'node-d')
        .executeTakeFirstOrThrow()
    ).boot_id;
    const bench = await newBench(fleet.s);
    await bench.work(sh('true'));
    const { ctx } = fleet.s.service;
    const e = await fleet.runner('node-e');
    // As a process that outlived its command leaves it.
    const { client } = await ctx.fleet!.find(d);
    await client.startTask(`op_${'x'.repeat(10)}`, {
      kind: 'exec',
      workspaceId: bench.threadId,
      command: 'echo late > late.txt',
      timeoutMs: 10_000,
    });
    for await (const entry of client.journal(`op_${'x'.repeat(10)}`)) if (entry.type === 'end') break;
    await db().updateTable('runners').set({ capacity: 0 }).where('boot_id', '=', d).execute();
    await bench.work(sh('test ! -e late.txt'));
    expect((await threadRow(bench.threadId)).runner_id).toBe(e.bootId);
    const kinds = (await bench.list('checkpoints')).map((one: { kind: string }) => one.kind);
    expect(kinds).toContain('recovery');
  });
});
