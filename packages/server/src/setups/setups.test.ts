/** Who waits for a setup, who gets its layer, and what becomes of both when something is lost. */
import { RunnerError } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { until } from '../builds/builds.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import { FRESH, newSetupBench } from './setups.fixture.ts';

const server = await startTestServer();
afterAll(() => server.close());
const { ctx } = server.service;
const { runner } = ctx;
afterEach(() => {
  Object.assign(ctx, { runner });
});
const status = ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);
const away = () => new RunnerError(503, 'unavailable', 'the answer was lost');
/** A command that ends once `path` is there, which nothing makes. */
const FOREVER = 'while true; do sleep 0.1; done';
const waitingJobs = (id: string) =>
  ctx.db.selectFrom('jobs').select(['id', 'kind', 'status']).where('waits_for', '=', id).execute();
const replaced = (calls: Partial<RunnerClient>) => {
  ctx.runner = Object.assign(Object.create(runner) as RunnerClient, calls);
};

describe.skipIf(!status?.ok)('waiting', () => {
  test('takes no worker: the jobs are put off, and the end of the setup makes them due', async () => {
    const bench = await newSetupBench(
      server,
      `while [ ! -e go ]; do sleep 0.05; [ $((n=n+1)) -lt 40 ] || touch go; done; ${FRESH}`,
    );
    const threadId = await bench.newThread();
    const build = await bench.submit('mkdir dist; cp gen/number dist', { setup: true });
    await until(async () => {
      const [setup] = await bench.setups();
      return setup !== undefined && (await waitingJobs(setup.id)).length === 2;
    });
    const [setup] = await bench.setups();
    expect((await waitingJobs(setup.id)).map(({ kind, status: of }) => `${kind} ${of}`).toSorted()).toEqual([
      'build.work queued',
      'thread.initialize queued',
    ]);
    expect(await bench.threadOf(threadId)).toMatchObject({
      workspaceStatus: 'preparing',
      workspaceSetupStatus: 'running',
      setupId: setup.id,
      initializationAttemptCount: 1,
    });
    expect((await bench.read(build.id)).status).toBe('queued');
    const { finishedAt } = await bench.setupEnded(setup.id);
    const ended = await bench.ended(build.id);
    expect([ended.status, ended.startedAt >= finishedAt]).toEqual(['ready', true]);
    await until(async () => (await bench.threadOf(threadId)).workspaceStatus === 'ready');
    expect(await bench.threadOf(threadId)).toMatchObject({
      workspaceSetupStatus: 'ready',
      initializationAttemptCount: 1,
    });
    const number = (await bench.setupLogs(setup.id)).text as string;
    expect((await bench.exec(threadId, 'cat gen/number')).stdout).toBe(number);
    expect(await waitingJobs(setup.id)).toEqual([]);
  });

  test('the only place for builds goes to the setup, not to the older build that waits for it', async () => {
    const bench = await newSetupBench(server, FRESH);
    await bench.set({ concurrency: { builds: 1 } });
    const build = await bench.submit('mkdir dist; cp gen/number dist', { setup: true });
    expect((await bench.ended(build.id)).status).toBe('ready');
  });

  test('ends when the thread is archived, and when the app is deleted; that ends the setup and its sandbox', async () => {
    const bench = await newSetupBench(server, FOREVER);
    const [one, two] = [await bench.newThread(), await bench.newThread()];
    await until(async () => (await bench.setups())[0]?.status === 'running');
    const [{ id }] = await bench.setups();
    await until(async () => (await waitingJobs(id)).length === 2);
    await server.call('PATCH', `${bench.url}/threads/${one}`, { archived: true });
    await until(async () => (await waitingJobs(id)).length === 1);
    expect((await server.call('DELETE', bench.url)).status).toBe(200);
    await until(async () => (await waitingJobs(id)).length === 0);
    expect(
      await ctx.db.selectFrom('setups').select(['status', 'error_code']).where('id', '=', id).execute(),
    ).toEqual([{ status: 'failed', error_code: 'sandbox_lost' }]);
    await until(() =>
      runner.task(id).then(
        () => false,
        (error: RunnerError) => error.status === 404,
      ),
    );
    const left = ctx.db
      .selectFrom('jobs')
      .select('id')
      .where('key', 'in', [`thread:${two}`, `setup:${id}`]);
    await until(async () => (await left.execute()).length === 0);
  });
});

describe.skipIf(!status?.ok)('what is lost', () => {
  test.each(['startTask', 'putSource', 'deleteTask'] as const)(
    '%s was done, its answer did not come: the command runs once',
    async (call) => {
      const bench = await newSetupBench(server, FRESH);
      let lost = 0;
      const real = runner[call] as (...args: unknown[]) => Promise<unknown>;
      replaced({
        [call]: async (...args: unknown[]) => {
          const answer = await real.apply(runner, args);
          if (String(args[0]).startsWith('set_') && lost++ === 0) throw away();
          return answer;
        },
      });
      const { id } = await bench.ask();
      expect(await bench.setupEnded(id)).toMatchObject({ status: 'ready', exitCode: 0 });
      expect((await bench.setupLogs(id)).text).toMatch(/^[0-9a-f-]{36}\n$/);
      expect(lost).toBeGreaterThan(0);
    },
  );

  test('a setup whose sandbox is gone is sandbox_lost, and a new one can be asked for', async () => {
    const bench = await newSetupBench(server, FRESH);
    replaced({
      startTask: async () => {
        throw away();
      },
    });
    const { id } = await bench.ask();
    expect(await bench.setupEnded(id)).toMatchObject({
      status: 'failed',
      exitCode: null,
      byteSize: null,
      error: { code: 'sandbox_lost' },
    });
    ctx.runner = runner;
    const again = await bench.ask();
    expect(again.id).not.toBe(id);
    expect((await bench.setupEnded(again.id)).status).toBe('ready');
  });

  test('a layer that is no longer kept is made again as a new record, whoever asks first', async () => {
    const bench = await newSetupBench(server, FRESH);
    const ready = async () => {
      const { id } = await bench.ask();
      return (await bench.setupEnded(id)) as { id: string };
    };
    const first = await ready();
    const drop = () => runner.forgetGroup(bench.appId);
    await drop();
    const second = await ready();
    expect(second.id).not.toBe(first.id);
    await drop();
    const threadId = await bench.newThread();
    await until(async () => (await bench.threadOf(threadId)).workspaceStatus === 'ready');
    const { setupId } = await bench.threadOf(threadId);
    expect([first.id, second.id]).not.toContain(setupId);
    // It is dropped between the look and the use.
    const build = async (lookAt: string) => {
      replaced({ keptLayers: async () => [lookAt] });
      const { id } = await bench.submit('mkdir dist; cp gen/number dist', { setup: true });
      return bench.ended(id);
    };
    await until(async () => (await bench.threadOf(threadId)).status === 'ready');
    expect((await build(setupId)).status).toBe('ready');
    expect((await bench.setups()).map((one: { status: string }) => one.status)).toEqual(
      Array(3).fill('ready'),
    );
  });

  test('a layer that goes between the look and the restore: the next attempt makes a new one', async () => {
    const bench = await newSetupBench(server, FRESH);
    const { id } = await bench.ask();
    await bench.setupEnded(id);
    await runner.forgetGroup(bench.appId);
    let looks = 0;
    replaced({
      keptLayers: (group) => (looks++ === 0 ? Promise.resolve([id]) : runner.keptLayers(group)),
    });
    const threadId = await bench.newThread();
    await until(async () => (await bench.threadOf(threadId)).workspaceStatus === 'ready');
    const { setupId, workspaceSetupStatus } = await bench.threadOf(threadId);
    expect([setupId === id, workspaceSetupStatus, looks > 1]).toEqual([false, 'ready', true]);
    expect((await bench.exec(threadId, 'cat gen/number')).stdout).toMatch(/^[0-9a-f-]{36}\n$/);
  });
});

describe.skipIf(!status?.ok)('a failed setup', () => {
  test('is not repeated within 600 s; then it is', async () => {
    const bench = await newSetupBench(server, 'exit 3');
    const run = async () => {
      const threadId = await bench.newThread();
      await until(async () => (await bench.threadOf(threadId)).workspaceStatus === 'ready');
      return bench.threadOf(threadId);
    };
    const first = await run();
    expect(first).toMatchObject({ workspaceSetupStatus: 'failed', status: 'ready' });
    expect((await run()).setupId).toBe(first.setupId);
    await ctx.db
      .updateTable('setups')
      .set({ finished_at: new Date(Date.now() - 601_000) })
      .where('id', '=', first.setupId)
      .execute();
    expect((await run()).setupId).not.toBe(first.setupId);
  });

  test('fails the builds and previews that want its layer, and nothing else', async () => {
    const bench = await newSetupBench(server, 'exit 3');
    const refused = await bench.submit('true', { setup: true });
    expect(await bench.ended(refused.id)).toMatchObject({
      status: 'failed',
      exitCode: null,
      startedAt: null,
      setup: true,
      error: { code: 'setup_failed' },
    });
    const order = { command: 'sleep 60', port: 3999 };
    const { preview } = (await server.call('POST', `${bench.thread}/previews`, order)).body;
    const read = async () => (await server.call('GET', `${bench.url}/previews/${preview.id}`)).body.preview;
    await until(async () => (await read()).status !== 'starting');
    expect(await read()).toMatchObject({ status: 'failed', setup: true, error: { code: 'setup_failed' } });
    const without = await bench.submit('mkdir dist; touch dist/a');
    expect((await bench.ended(without.id)).status).toBe('ready');
  });
});
