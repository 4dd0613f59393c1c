/** Setups whose worker or runner is killed. A command that ran twice would leave two numbers in its log. */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endLeftovers, endOf, endProcess, spawnService } from '../../../../checks/harness/service.ts';
import { until } from '../builds/builds.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { FRESH, newSetupBench } from './setups.fixture.ts';

let server: TestServer;
let worker: ChildProcess;

async function startWorker(): Promise<void> {
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
  await until(async () => server.service.ctx.runnerStatus() !== null);
}

beforeAll(async () => {
  server = await startTestServer({ HEADRACE_ROLES: 'api' });
  await startWorker();
}, 60_000);
afterAll(async () => {
  await endProcess(worker);
  await endLeftovers(server.service.ctx.config.dataDir);
  await server.close();
}, 60_000);

/** A setup that has printed its number, and a thread that waits for it. */
async function begun(seconds: string) {
  const bench = await newSetupBench(server, `${FRESH}; sleep ${seconds}; echo after`);
  const threadId = await bench.newThread();
  await until(async () => (await bench.threadOf(threadId)).setupId !== null);
  const { setupId: id } = await bench.threadOf(threadId);
  await until(async () => (await bench.setupLogs(id)).text.length > 30);
  return { bench, threadId, id: id as string };
}

test(
  "a killed worker's setup goes on where its sandbox lives; the thread that waits gets its layer",
  { timeout: 60_000 },
  async ({ skip }) => {
    if (!server.service.ctx.runnerStatus()?.ok) skip();
    const { bench, threadId, id } = await begun('3.0719');
    worker.kill('SIGKILL');
    await endOf(worker);
    expect((await bench.readSetup(id)).status).toBe('running');
    await startWorker();
    expect((await bench.setupEnded(id)).status).toBe('ready');
    const { text } = await bench.setupLogs(id);
    expect(text).toMatch(/^[0-9a-f-]{36}\nafter\n$/);
    await until(async () => (await bench.threadOf(threadId)).workspaceStatus === 'ready');
    expect((await bench.exec(threadId, 'cat gen/number')).stdout).toBe(text.slice(0, 37));
  },
);

test(
  "a killed runner's setup is sandbox_lost, and its thread goes on without a layer",
  { timeout: 60_000 },
  async ({ skip }) => {
    if (!server.service.ctx.runnerStatus()?.ok) skip();
    const { bench, threadId, id } = await begun('600.0720');
    const { text } = await bench.setupLogs(id);
    process.kill(server.service.ctx.runnerStatus()!.pid, 'SIGKILL');
    expect(await bench.setupEnded(id)).toMatchObject({
      status: 'failed',
      exitCode: null,
      error: { code: 'sandbox_lost' },
    });
    expect((await bench.setupLogs(id)).text).toBe(text);
    await until(async () => (await bench.threadOf(threadId)).workspaceStatus === 'ready');
    expect(await bench.threadOf(threadId)).toMatchObject({ workspaceSetupStatus: 'failed', setupId: id });
  },
);
