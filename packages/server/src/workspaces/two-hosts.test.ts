/** Two hosts with a runner each on one database, without a fleet: a worker refuses to be the second, unless the first was silent. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { json } from '../db/schema.ts';
import type { RunnerReport } from '../db/schema.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import { sweepVanished } from './sweep-vanished.ts';
import { hurry, reached } from './workspaces.fixture.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

let first: TestServer, second: TestServer;
beforeAll(async () => {
  first = await startTestServer();
  await first.service.ctx.db.deleteFrom('processes').execute();
  second = await startTestServer({}, first);
});
afterAll(async () => {
  await second?.close();
  await first?.close();
});
const reasonsOf = async (bench: Bench): Promise<string[]> =>
  (await bench.list('workspace/history')).map((record: { reason: string }) => record.reason);
const isOk = () => [first, second].every(({ service }) => service.ctx.runnerStatus()?.ok);

test('neither sweep takes the workspaces of the other host for vanished', async (t) => {
  if (!isOk()) t.skip('no sandbox can be made here');
  const ids = [first, second].map(({ service }) => service.ctx.runnerStatus()!.id);
  expect(new Set(ids).size).toBe(2);
  const benches = await Promise.all([newBench(first), newBench(first), newBench(first)]);
  for (let rounds = 0; rounds < 3; rounds++)
    for (const { service } of [first, second]) await sweepVanished(service.ctx);
  for (const bench of benches) {
    expect((await bench.thread()).workspaceStatus).toBe('ready');
    expect(await reasonsOf(bench)).not.toContain('the runtime vanished');
  }
});

test('an idle workspace is put away by the host that has it, whoever has its job first', async (t) => {
  if (!isOk()) t.skip('no sandbox can be made here');
  const benches = await Promise.all([newBench(first), newBench(first), newBench(first)]);
  const ends = hurry(first);
  try {
    for (const bench of benches) {
      await reached(first, bench, 'archived');
      expect(await reasonsOf(bench)).not.toContain('the runtime vanished');
    }
  } finally {
    ends();
  }
});

test("a workspace at a runner that is called `local`, as all were, is this host's where nobody else reports one", async (t) => {
  if (!isOk()) t.skip('no sandbox can be made here');
  const { ctx } = first.service;
  const bench = await newBench(first);
  await sql`update threads set runner_id = 'local:1' where id = ${bench.threadId}`.execute(ctx.db);
  const report = { id: 'local' } as RunnerReport;
  await ctx.db
    .insertInto('processes')
    .values({ id: 'wrk_old', host: 'old-host', roles: ['worker'], runner: json(report) })
    .execute();
  await sweepVanished(ctx);
  expect((await bench.thread()).workspaceStatus).toBe('ready');
  await ctx.db.deleteFrom('processes').where('id', '=', 'wrk_old').execute();
  await until('it to count as vanished', async () => {
    await sweepVanished(ctx);
    return (await bench.thread()).workspaceStatus === 'error';
  });
  await bench.work(sh('cat a.txt'));
});
