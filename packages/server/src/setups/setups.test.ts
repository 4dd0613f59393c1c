/** Who waits for a setup, who gets its layer, and what becomes of both when something is lost. */
import { RunnerError } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { until } from '../builds/builds.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import { restoreWithSetup } from '../workspaces/restore-with-setup.ts';
import { workSetup } from './setup-work.job.ts';
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

describe.skipIf(!status?.ok)('after the wait', () => {
  test('each failed attempt at a workspace counts', async () => {
    const bench = await newSetupBench(server, FRESH);
    let attempts = 0;
    replaced({
      putWorkspace: async () => {
        attempts++;
        throw new RunnerError(500, 'not_made', 'no room');
      },
    });
    const threadId = await bench.newThread();
    await until(async () => (await bench.threadOf(threadId)).initializationState === 'failed');
    expect([attempts, (await bench.threadOf(threadId)).initializationAttemptCount]).toEqual([3, 3]);
  });

  test('an archived thread waits for nothing, even where the archiving came after the look', async () => {
    const bench = await newSetupBench(server, FOREVER);
    const { id } = await bench.ask();
    const threadId = bench.thread.split('/').at(-1)!;
    const thread = await ctx.db
      .selectFrom('threads')
      .selectAll()
      .where('id', '=', threadId)
      .executeTakeFirstOrThrow();
    await server.call('PATCH', bench.thread, { archived: true });
    const job = { claimedAt: Date.now(), fence: async () => {}, putOff: () => Promise.reject(away()) };
    expect(await restoreWithSetup(ctx, job as never, thread)).toBeUndefined();
    expect((await bench.threadOf(threadId)).setupId).toBeNull();
    await runner.deleteTask(id);
  });

  test("a preview's time to start runs from the end of the setup, whenever its job has its turn", async () => {
    const bench = await newSetupBench(server, FOREVER);
    const order = { command: 'sleep 60', port: 3999 };
    const { preview } = (await server.call('POST', `${bench.thread}/previews`, order)).body;
    await until(async () => (await bench.setups())[0]?.status === 'running');
    const [{ id }] = await bench.setups();
    await until(async () => (await waitingJobs(id)).length === 1);
    const isHeld = async () =>
      (
        await sql<{
          held: boolean;
        }>`select starting_since = 'infinity' as held from previews where id = ${preview.id}`.execute(ctx.db)
      ).rows[0]!.held;
    expect(await isHeld()).toBe(true);
    // An older job of its key keeps it from being claimed.
    await sql`insert into jobs (id, kind, key, fair_org, fair_key, payload, run_at) overriding system value
      select -1, kind, key, fair_org, fair_key, payload, 'infinity' from jobs where waits_for = ${id}`.execute(
      ctx.db,
    );
    await runner.deleteTask(id);
    await bench.setupEnded(id);
    expect(await waitingJobs(id)).toEqual([]);
    await until(async () => !(await isHeld()));
    await sql`delete from jobs where id = -1`.execute(ctx.db);
  });

  test("another machine's setup has the time to make its layer, too", async () => {
    const bench = await newSetupBench(server, FRESH);
    const { id } = await bench.ask();
    await bench.setupEnded(id);
    const isLeft = async (seconds: number) => {
      await sql`update setups set status = 'running', finished_at = null, runner_id = 'elsewhere:1', started_at = now() - (timeout_seconds + ${seconds}) * interval '1 second' where id = ${id}`.execute(
        ctx.db,
      );
      const job = { payload: { setupId: id }, fence: async () => {}, signal: new AbortController().signal };
      await workSetup(ctx, job as never);
      return (await bench.readSetup(id)).status === 'running';
    };
    expect([await isLeft(180), await isLeft(300)]).toEqual([true, false]);
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
  });

  test('a layer that goes when a build has begun fails that at once; the next one has a new layer', async () => {
    const bench = await newSetupBench(server, FRESH);
    const { id } = await bench.ask();
    await bench.setupEnded(id);
    replaced({
      startTask: async (...args) => {
        await runner.forgetGroup(bench.appId);
        return runner.startTask(...args);
      },
    });
    const build = async () =>
      bench.ended((await bench.submit('mkdir dist; cp gen/number dist', { setup: true })).id);
    const refused = await build();
    expect(refused).toMatchObject({ status: 'failed', exitCode: null, error: { code: 'worker_lost' } });
    expect(refused.error.message).toContain('setup');
    ctx.runner = runner;
    expect((await build()).status).toBe('ready');
    expect((await bench.setups()).length).toBe(2);
  });

  test('a layer that goes between the look and the restore is made anew for a command', async () => {
    const bench = await newSetupBench(server, FRESH);
    const threadId = await bench.newThread();
    await until(async () => (await bench.threadOf(threadId)).status === 'ready');
    const { setupId } = await bench.threadOf(threadId);
    await runner.deleteWorkspace(threadId);
    await runner.forgetGroup(bench.appId);
    let looks = 0;
    replaced({
      keptLayers: (group) => (looks++ === 0 ? Promise.resolve([setupId]) : runner.keptLayers(group)),
    });
    expect((await bench.exec(threadId, 'cat gen/number')).stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    expect((await bench.threadOf(threadId)).setupId).not.toBe(setupId);
  });

  test('a layer that goes between the look and the restore is made anew in the same attempt', async () => {
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
    const { setupId, workspaceSetupStatus, initializationAttemptCount } = await bench.threadOf(threadId);
    expect([setupId === id, workspaceSetupStatus, looks > 1]).toEqual([false, 'ready', true]);
    expect(initializationAttemptCount).toBe(1);
    expect((await bench.exec(threadId, 'cat gen/number')).stdout).toMatch(/^[0-9a-f-]{36}\n$/);
  });
});

describe.skipIf(!status?.ok)('layers that are lost again and again', () => {
  test('fail builds and previews, which say that nothing is to be mended; a thread goes on', async () => {
    const bench = await newSetupBench(server, FRESH);
    const { id } = await bench.ask();
    await bench.setupEnded(id);
    await sql`update setups set layer_gone_at = now() where id = ${id}`.execute(ctx.db);
    for (const n of [1, 2, 3, 4])
      await sql`insert into setups (org_id, id, project_id, key, command, paths, timeout_seconds, source_id, status, runner_id, finished_at, layer_gone_at)
        select org_id, ${`set_00${n}`} || substr(id, 8), project_id, key, command, paths, timeout_seconds, source_id, status, runner_id,
          now() - interval '1 day', now() - interval '1 day' from setups where id = ${id}`.execute(ctx.db);
    const build = await bench.ended((await bench.submit('true', { setup: true })).id);
    expect(build.error).toEqual({
      code: 'setup_failed',
      message: expect.stringContaining('The runner does not keep'),
    });
    const order = { command: 'sleep 60', port: 3999 };
    const { preview } = (await server.call('POST', `${bench.thread}/previews`, order)).body;
    const read = async () => (await server.call('GET', `${bench.url}/previews/${preview.id}`)).body.preview;
    await until(async () => (await read()).status === 'failed');
    expect((await read()).error.message).toBe(
      "The runner does not keep what the app's setup makes. Create a new preview later, or ask the operator to give it more room.",
    );
    const threadId = await bench.newThread();
    await until(async () => (await bench.threadOf(threadId)).workspaceStatus === 'ready');
    expect(await bench.threadOf(threadId)).toMatchObject({ workspaceSetupStatus: 'failed', setupId: id });
  });
});

describe.skipIf(!status?.ok)('asking for one', () => {
  test('answers the one under way, also where an ended one has a newer id', async () => {
    const bench = await newSetupBench(server, FOREVER);
    const { id } = await bench.ask();
    const of = await ctx.db
      .selectFrom('setups')
      .select(['org_id', 'project_id', 'key', 'command', 'paths', 'timeout_seconds', 'source_id'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await ctx.db
      .insertInto('setups')
      .values({
        ...of,
        id: `set_${'z'.repeat(id.length - 4)}`,
        status: 'failed',
        finished_at: new Date(),
      })
      .execute();
    expect((await bench.ask({ force: true })).id).toBe(id);
    await runner.deleteTask(id);
  });

  test('is a conflict without the setting', async () => {
    const bench = await newSetupBench(server, FRESH);
    await bench.set({ setup: null });
    expect((await server.call('POST', `${bench.url}/setups`, {})).body.error).toMatchObject({
      code: 'conflict',
    });
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
