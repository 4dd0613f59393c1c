/**
 * Builds whose worker, runner or answers are lost. A command that ran twice would leave two numbers: one in
 * its log, another in its output.
 */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { endLeftovers, endOf, endProcess, spawnService } from '../../../../checks/harness/service.ts';
import { RunnerError } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import { readTar } from '../trees/tar-reader.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, until } from './builds.fixture.ts';
import type { Bench } from './builds.fixture.ts';

const away = () => new RunnerError(503, 'unavailable', 'the answer was lost');
const NUMBER = 'mkdir dist; read n < /proc/sys/kernel/random/uuid; echo "$n" | tee dist/number';
/** The number in the output of a build whose log has the same one, once. */
async function numberOf(server: TestServer, bench: Bench, id: string): Promise<string> {
  const artifact = await fetch(`${server.base}${bench.url}/builds/${id}/artifact`, {
    headers: { 'x-api-key': server.key },
  });
  for await (const entry of readTar([gunzipSync(Buffer.from(await artifact.arrayBuffer()))])) {
    const kept = (await entry.read()).toString();
    expect(
      (await bench.logs(id)).text.split('\n').filter((line: string) => /^[0-9a-f-]{36}$/.test(line)),
    ).toEqual([kept.trim()]);
    return kept;
  }
  throw new Error('the artifact is empty');
}

describe('answers that are lost', async () => {
  const server = await startTestServer();
  afterAll(() => server.close());
  const { ctx } = server.service;
  const isOk = ctx.runnerStatus()?.ok === true;
  if (!isOk) process.stderr.write('SKIPPED, no sandbox can be made here\n');
  const { runner } = ctx;
  afterEach(() => {
    Object.assign(ctx, { runner });
  });

  test.skipIf(!isOk).each([
    ['startTask', 'thread'],
    ['putSource', 'thread'],
    ['output', 'thread'],
    ['deleteTask', 'thread'],
    ['startTask', 'url'],
    ['deleteTask', 'url'],
  ] as const)('%s was done, its answer did not come: the command runs once (%s)', async (call, on) => {
    const bench = await newBench(server);
    const made: boolean[] = [];
    let lost = 0;
    const real = runner[call] as (...args: unknown[]) => Promise<unknown>;
    ctx.runner = Object.assign(Object.create(runner) as RunnerClient, {
      startTask: async (...args: Parameters<typeof runner.startTask>) => {
        const task = await runner.startTask(...args);
        made.push(task.isNew);
        if (call === 'startTask' && lost++ === 0) throw away();
        return task;
      },
      ...(call === 'startTask'
        ? {}
        : {
            [call]: async (...args: unknown[]) => {
              const answer = await real.apply(runner, args);
              if (lost++ === 0) throw away();
              return answer;
            },
          }),
    });
    const { id } = await bench.submit(NUMBER, {}, bench[on]);
    expect((await bench.ended(id)).status).toBe('ready');
    await numberOf(server, bench, id);
    expect([made, lost >= 1]).toEqual([[true], true]);
    await until(() =>
      runner.task(id).then(
        () => false,
        (error: RunnerError) => error.status === 404,
      ),
    );
  });

  test.skipIf(!isOk)(
    'a start that reaches the runner after the build was given up starts nothing',
    async () => {
      const bench = await newBench(server);
      let late: (() => Promise<unknown>) | undefined;
      ctx.runner = Object.assign(Object.create(runner) as RunnerClient, {
        startTask: async (...args: Parameters<typeof runner.startTask>) => {
          late = () => runner.startTask(...args);
          throw away();
        },
      });
      const { id } = await bench.submit(NUMBER);
      expect(await bench.ended(id)).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
      await expect(late!()).rejects.toMatchObject({ status: 410 });
      await expect(runner.task(id)).rejects.toMatchObject({ status: 404 });
      expect((await bench.logs(id)).text).toBe('');
    },
  );

  test.skipIf(!isOk)(
    'a worker that wakes before its start, when another one has given the build up, starts nothing',
    async () => {
      const bench = await newBench(server);
      const [asleep, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
      const sources: string[] = [];
      ctx.runner = Object.assign(Object.create(runner) as RunnerClient, {
        startTask: async (...args: Parameters<typeof runner.startTask>) => {
          await asleep.promise;
          const answer = await runner.startTask(...args).catch((error: unknown) => error);
          awake.resolve(answer);
          if (answer instanceof Error) throw answer;
          return answer;
        },
        putSource: async (...args: Parameters<typeof runner.putSource>) => {
          sources.push(args[0]);
          return runner.putSource(...args);
        },
      });
      const { id } = await bench.submit(NUMBER);
      await bench.started(id);
      // Another worker has its job now.
      await ctx.db
        .updateTable('jobs')
        .set({ status: 'queued', worker_id: null, run_at: new Date(0) })
        .where('key', '=', `build:${id}`)
        .execute();
      ctx.bus.notify('jobs');
      expect(await bench.ended(id)).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
      asleep.resolve();
      expect(await awake.promise).toMatchObject({ status: 410 });
      await until(
        async () =>
          (await ctx.db.selectFrom('jobs').select('id').where('key', '=', `build:${id}`).execute()).length ===
          0,
      );
      expect([sources, (await bench.logs(id)).text]).toEqual([[], '']);
    },
  );
});

/** The host's processes whose command line contains the text. */
const alive = (mark: string) =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark);
      } catch {
        return false;
      }
    });

describe('processes that are killed', () => {
  let server: TestServer;
  let worker: ChildProcess;
  let runnerPid = 0;
  const startWorker = async () => {
    const { dataDir, databaseUrl } = server.service.ctx.config;
    worker = spawnService({
      dataDir,
      key: server.key,
      env: {
        DATABASE_URL: databaseUrl!,
        HEADRACE_ROLES: 'worker,runner',
        HEADRACE_SECRET_KEY: 'test secret of at least 32 characters',
        HEADRACE_LOG_LEVEL: 'fatal',
      },
    });
    worker.stdout!.resume();
    worker.stderr!.resume();
    runnerPid = await newRunner(0);
  };
  const newRunner = async (not: number) => {
    await until(async () => {
      const status = server.service.ctx.runnerStatus();
      return status !== null && status.pid !== not;
    });
    return server.service.ctx.runnerStatus()!.pid;
  };
  const kill = async (child: ChildProcess) => {
    child.kill('SIGKILL');
    await endOf(child);
  };
  const submit = async (bench: Bench, mark: string) => {
    const { id } = await bench.submit(`${NUMBER}; sleep ${mark}; echo "after"`);
    await until(async () => (await bench.logs(id)).text.length > 30);
    return id as string;
  };
  beforeAll(async () => {
    server = await startTestServer({ HEADRACE_ROLES: 'api' });
    await startWorker();
  }, 60_000);
  afterAll(async () => {
    await endProcess(worker);
    await endLeftovers(server.service.ctx.config.dataDir);
    await server.close();
  }, 60_000);

  test(
    "a killed worker's build goes on where its sandbox lives, and its log loses nothing",
    { timeout: 60_000 },
    async ({ skip }) => {
      if (!server.service.ctx.runnerStatus()?.ok) skip();
      const bench = await newBench(server);
      const id = await submit(bench, '3.0717');
      await kill(worker);
      expect((await bench.read(id)).status).toBe('building');
      await startWorker();
      expect((await bench.ended(id)).status).toBe('ready');
      await numberOf(server, bench, id);
      expect((await bench.logs(id)).text).toMatch(/^[0-9a-f-]{36}\nafter\n$/);
    },
  );

  test(
    "a killed runner's build is worker_lost once nothing of it lives; what it had printed stays, and it can be submitted again",
    { timeout: 60_000 },
    async ({ skip }) => {
      if (!server.service.ctx.runnerStatus()?.ok) skip();
      const bench = await newBench(server);
      const id = await submit(bench, '600.0718');
      const logged = (await bench.logs(id)).text;
      expect(alive('600.0718').length).toBeGreaterThan(0);
      process.kill(runnerPid, 'SIGKILL');
      const ended = await bench.ended(id);
      expect(alive('600.0718')).toEqual([]);
      expect(ended).toMatchObject({
        status: 'failed',
        exitCode: null,
        error: { code: 'worker_lost' },
        artifactSha256: null,
      });
      expect((await bench.logs(id)).text).toBe(logged);
      runnerPid = await newRunner(runnerPid);
      const again = await bench.submit(NUMBER);
      expect((await bench.ended(again.id)).status).toBe('ready');
      expect(await numberOf(server, bench, again.id)).not.toBe(logged);
    },
  );
});
