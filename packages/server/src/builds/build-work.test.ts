/** What happens to builds when workers, runners and stores fail. */
import pino from 'pino';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { RunnerError } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import type { TaskEnd } from '@headrace/runner/protocol';
import { startService } from '../boot.ts';
import type { Service } from '../boot.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';
import { startTestServer } from '../service.fixture.ts';
import { newBench, until } from './builds.fixture.ts';

const server = await startTestServer();
let restarted: Service | undefined;
afterAll(async () => {
  await restarted?.stop();
  await server.close();
});
const status = server.service.ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);
const { ctx } = server.service;
const [runner, store] = [ctx.runner, ctx.store];
afterEach(() => {
  Object.assign(ctx, { runner, store });
});

const withRunner = (changes: Partial<RunnerClient>) => {
  ctx.runner = Object.assign(Object.create(runner) as RunnerClient, changes);
};
const rowOf = (id: string) =>
  ctx.db
    .selectFrom('builds')
    .select(['status', 'outcome', 'artifact_key'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

describe.skipIf(!status?.ok)('a build', () => {
  test('whose sandbox is not confirmed gone stays building, its thread blocked, and ends once it is', async () => {
    const bench = await newBench(server);
    let tries = 0;
    let isStuck = true;
    withRunner({
      deleteTask: async (id) => {
        tries++;
        if (isStuck) throw new RunnerError(500, 'not_confirmed', 'still alive');
        return runner.deleteTask(id);
      },
    });
    const { id } = await bench.submit('mkdir dist; echo x > dist/x');
    await until(async () => tries >= 2);
    expect(await rowOf(id)).toMatchObject({ status: 'building', outcome: 'ready' });
    expect(await bench.read(id)).toMatchObject({
      status: 'building',
      exitCode: null,
      artifactSha256: null,
      fileCount: null,
    });
    expect((await server.call('GET', bench.thread)).body.thread).toMatchObject({
      status: 'blocked',
      blockedOn: [`build:${id}`],
    });
    isStuck = false;
    expect(await bench.ended(id)).toMatchObject({ status: 'ready', exitCode: 0, fileCount: 1 });
  });

  test('that is cancelled while its sandbox goes ends cancelled, and its artifact is removed', async () => {
    const bench = await newBench(server);
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    withRunner({
      deleteTask: async (id) => {
        await held;
        return runner.deleteTask(id);
      },
    });
    const { id } = await bench.submit('mkdir dist');
    await until(async () => (await rowOf(id)).outcome === 'ready');
    const { artifact_key: key } = await rowOf(id);
    expect((await server.call('POST', `${bench.url}/builds/${id}/cancel`)).status).toBe(202);
    free();
    expect(await bench.ended(id)).toMatchObject({
      status: 'failed',
      exitCode: null,
      error: { code: 'cancelled' },
      artifactSha256: null,
    });
    expect(
      await ctx.db
        .selectFrom('objects')
        .select(['committed_at', 'delete_after'])
        .where('key', '=', key!)
        .executeTakeFirst(),
    ).toEqual({ committed_at: null, delete_after: expect.any(Date) });
  });

  test('waits for a store that is away, and can be cancelled while it waits', async () => {
    const bench = await newBench(server);
    let isAway = true;
    let puts = 0;
    ctx.store = Object.assign(Object.create(store) as typeof store, {
      put: async (...args: Parameters<typeof store.put>) => {
        puts++;
        if (isAway) throw new StorageUnavailableError('away');
        return store.put(...args);
      },
    });
    const { id } = await bench.submit('echo once; mkdir dist');
    await until(async () => puts >= 2);
    isAway = false;
    expect((await bench.ended(id)).status).toBe('ready');
    expect((await bench.logs(id)).text).toBe('once\n');
    isAway = true;
    const second = await bench.submit('mkdir dist');
    await until(async () => puts >= 4);
    await server.call('POST', `${bench.url}/builds/${second.id}/cancel`);
    expect((await bench.ended(second.id)).error.code).toBe('cancelled');
  });

  test('that no runner knows any more is worker_lost, its command is not run again', async () => {
    const bench = await newBench(server);
    let starts = 0;
    withRunner({
      startTask: async () => {
        starts++;
        throw new RunnerError(503, 'unavailable', 'died');
      },
    });
    const { id } = await bench.submit('mkdir dist');
    expect(await bench.ended(id)).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
    expect(starts).toBe(1);
    Object.assign(ctx, { runner });
    expect((await bench.ended((await bench.submit('mkdir dist')).id)).status).toBe('ready');
  });

  test('whose journal breaks off is attached to again: nothing is logged twice, nothing run twice', async () => {
    const bench = await newBench(server);
    let reads = 0;
    withRunner({
      // The runner forgets nothing: the next reader has to ask from the right offset.
      ack: async () => {},
      async *journal(id, from, signal) {
        reads++;
        for await (const entry of runner.journal(id, from, signal)) {
          yield entry;
          if (reads === 1 && entry.type === 'output') throw new RunnerError(503, 'unavailable', 'broke off');
        }
      },
    });
    const { id } = await bench.submit('echo one; sleep 0.3; echo two; sleep 0.3; echo three; mkdir dist');
    expect((await bench.ended(id)).status).toBe('ready');
    expect([reads, (await bench.logs(id)).text]).toEqual([2, 'one\ntwo\nthree\n']);
  });

  const KILLED = { exitCode: null, signal: 'SIGKILL' };
  test.each<[string, Partial<TaskEnd>, string, RegExp]>([
    ['that ran out of memory', { ...KILLED, oom: true }, 'command_failed', /ran out of memory/],
    [
      'that passed a limit',
      {
        ...KILLED,
        outcome: 'failed',
        error: { code: 'sandbox_lost', message: 'It used more than 2048 MiB of disk.' },
      },
      'command_failed',
      /stopped: It used more than 2048 MiB of disk/,
    ],
    ['that a signal ended', { exitCode: null, signal: 'SIGSEGV' }, 'command_failed', /SIGSEGV/],
    ['that took too long', { ...KILLED, timedOut: true }, 'timed_out', /longer than 60 seconds/],
    ['whose runner ended it', { ...KILLED, outcome: 'cancelled' }, 'worker_lost', /Submit the build again/],
    [
      'that never began',
      {
        outcome: 'failed',
        exitCode: null,
        signal: null,
        error: { code: 'sandbox_lost', message: 'The sandbox could not be started.' },
      },
      'worker_lost',
      /could not be started/,
    ],
  ])('%s is reported as such, and nothing of its output is kept', async (_, change, code, message) => {
    const bench = await newBench(server);
    withRunner({
      async *journal(id, from, signal) {
        for await (const entry of runner.journal(id, from, signal))
          yield entry.type === 'end' ? { ...entry, ...change } : entry;
      },
    });
    const build = await bench.ended((await bench.submit('mkdir dist; echo x > dist/x')).id);
    expect(build).toMatchObject({
      status: 'failed',
      exitCode: null,
      error: { code, message: expect.stringMatching(message) },
      artifactSha256: null,
    });
    expect(await rowOf(build.id)).toMatchObject({ artifact_key: null });
  });

  test('without a job gets one', async () => {
    const bench = await newBench(server);
    let isAway = true;
    withRunner({
      deleteTask: async (id) => {
        if (isAway) throw new RunnerError(503, 'unavailable', 'away');
        return runner.deleteTask(id);
      },
    });
    const { id } = await bench.submit('mkdir dist');
    await until(async () => (await rowOf(id)).outcome === 'ready');
    // As after the last attempt of its job.
    await until(
      async () =>
        (
          await ctx.db
            .deleteFrom('jobs')
            .where('key', '=', `build:${id}`)
            .where('status', '=', 'queued')
            .executeTakeFirst()
        ).numDeletedRows > 0n,
    );
    isAway = false;
    expect((await bench.ended(id)).status).toBe('ready');
  });

  test('goes on over a restart of the service', async () => {
    const bench = await newBench(server);
    const { id } = await bench.submit('echo one; sleep 3; echo two; mkdir dist');
    await until(async () => (await bench.logs(id)).text === 'one\n');
    await server.service.stop();
    restarted = await startService(
      { ...ctx.config, port: Number(new URL(server.base).port) },
      pino({ level: 'fatal' }),
    );
    expect((await bench.ended(id)).status).toBe('ready');
    expect((await bench.logs(id)).text).toBe('one\ntwo\n');
  });
});
