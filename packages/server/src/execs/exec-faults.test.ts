/**
 * Something breaks at each step of a command. It runs once, what it changed is stored once, and its caller
 * gets the stored result; where nobody can know what it did, one error says so.
 */
import { randomUUID } from 'node:crypto';
import { RunnerError } from '@headrace/runner/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseFrames } from '../events/events.fixture.ts';
import { rowsOf } from '../fault-tables.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, refusal, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import { away, faultsOf, hurry, loseWorker, recoveries, settled } from '../workspaces/workspaces.fixture.ts';
import type { Step } from '../workspaces/workspaces.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
  return hurry(s);
});
afterAll(async () => {
  await s?.close();
});

const { faultAt, mend, onMend } = faultsOf(() => s);
const exec = (b: Bench, command: string, idem = randomUUID(), headers: Record<string, string> = {}) =>
  s.call('POST', `${b.at}/exec`, { command }, { idem, headers });
const ONCE = 'echo x >> log.txt; echo ran';

const STEPS: Step[] = [
  'before capture',
  'after capture',
  'before blobs',
  'after blobs',
  'before put',
  'after put',
  'before deleteTask',
  'after deleteTask',
];

async function expectOnce(b: Bench, answer: ReturnType<typeof exec>): Promise<void> {
  const { exec: result } = await ok(answer);
  expect([result.exitCode, result.stdout, await b.files(result.sourceId)]).toEqual([
    0,
    'ran\n',
    { 'a.txt': 'a\n', 'log.txt': 'x\n' },
  ]);
  await settled(s, b);
  expect([
    (await b.list('checkpoints')).map((c: { kind: string }) => c.kind),
    (await b.thread()).latestSourceId,
  ]).toEqual([['edit'], result.sourceId]);
  expect((await ok(exec(b, 'cat log.txt'))).exec).toMatchObject({ stdout: 'x\n', sourceId: null });
}

test.each(rowsOf(STEPS, 0))('%s: the call fails', async (step) => {
  const b = await newBench(s);
  const act = vi.fn(() => Promise.reject(away(step)));
  faultAt(step, act);
  await expectOnce(b, exec(b, ONCE));
  expect(act).toHaveBeenCalledTimes(1);
});

test.each(rowsOf<Step>(['after startTask', ...STEPS], 0))('%s: its worker is gone', async (step) => {
  const b = await newBench(s);
  const isOver = Promise.withResolvers<void>();
  const act = vi.fn(async () => {
    await loseWorker(s, b);
    await isOver.promise;
    throw new Error('It is gone.');
  });
  faultAt(step, act);
  await expectOnce(b, exec(b, ONCE));
  expect(act).toHaveBeenCalledTimes(1);
  isOver.resolve();
});

test('before it is started its worker is gone: nobody can know that it was not, so it is lost, and not run', async () => {
  const b = await newBench(s);
  const isOver = Promise.withResolvers<void>();
  faultAt('before startTask', async () => {
    await loseWorker(s, b);
    await isOver.promise;
    throw new Error('It is gone.');
  });
  const idem = randomUUID();
  expect(await refusal(exec(b, ONCE, idem))).toBe('503 source_workspace_unavailable');
  const again = await exec(b, ONCE, idem);
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([503, 'true']);
  expect((await ok(exec(b, 'ls'))).exec.stdout).toBe('a.txt\n');
  isOver.resolve();
});

test('its journal breaks off while its sandbox lives: it is read again, and all of the output arrives', async () => {
  const b = await newBench(s);
  const { runner } = s.service.ctx;
  const { journal } = runner;
  let breaks = 0;
  onMend(() => {
    runner.journal = journal;
  });
  runner.journal = async function* broken(...args) {
    for await (const entry of journal(...args)) {
      yield entry;
      if (entry.type === 'output' && breaks++ < 2)
        throw new RunnerError(503, 'unavailable', 'The journal broke off.');
    }
  };
  const streamed = await exec(b, 'echo one; sleep 0.3; echo two; sleep 0.3; echo three', randomUUID(), {
    accept: 'text/event-stream',
  });
  const { frames } = parseFrames(streamed.text);
  expect(
    frames
      .filter((f) => f.event === 'output')
      .map((f) => f.data.text)
      .join(''),
  ).toBe('one\ntwo\nthree\n');
  expect(frames.at(-1)).toMatchObject({ event: 'exit', data: { exitCode: 0 } });
  expect(breaks).toBeGreaterThanOrEqual(2);
});

describe('while the store is away', () => {
  const job = (b: Bench) =>
    s.service.ctx.db.selectFrom('jobs').selectAll().where('key', '=', `thread:${b.threadId}`);

  test('its end waits for it, longer than one job does; the thread is occupied, and the result comes', async () => {
    const b = await newBench(s);
    faultAt('before put', () => Promise.reject(away('before put')), 'always');
    const idem = randomUUID();
    const answer = exec(b, ONCE, idem);
    const { id } = await until('a failed try', async () =>
      job(b).where('failures', '>', 0).executeTakeFirst(),
    );
    await s.service.ctx.db
      .updateTable('jobs')
      .set({ failures: 7, run_at: new Date() })
      .where('id', '=', id)
      .where('status', '=', 'queued')
      .execute();
    await until('another job', async () => {
      await s.service.ctx.db
        .updateTable('jobs')
        .set({ failures: 7, run_at: new Date() })
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .execute();
      return job(b).where('id', '>', id).executeTakeFirst();
    });
    expect(await refusal(exec(b, 'true'))).toBe('409 thread_busy exec');
    expect(await refusal(exec(b, ONCE, idem))).toBe('409 request_in_progress');
    mend();
    await s.service.ctx.db
      .updateTable('jobs')
      .set({ run_at: new Date() })
      .where('key', '=', `thread:${b.threadId}`)
      .where('status', '=', 'queued')
      .execute();
    await expectOnce(b, answer);
  });

  test('given up after an hour it is lost; what it changed is in the workspace, and not run again', async () => {
    const b = await newBench(s);
    faultAt('before put', () => Promise.reject(away('before put')), 'always');
    const answer = exec(b, ONCE);
    const { id } = await until('a failed try', async () =>
      job(b).where('failures', '>', 0).executeTakeFirst(),
    );
    await s.service.ctx.db
      .updateTable('execs')
      .set({ created_at: new Date(Date.now() - 3_700_000) })
      .where('thread_id', '=', b.threadId)
      .execute();
    await until('the end', async () => {
      await s.service.ctx.db
        .updateTable('jobs')
        .set({ failures: 7, run_at: new Date() })
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .execute();
      return !(await job(b).executeTakeFirst());
    });
    expect(await refusal(answer)).toBe('503 source_workspace_unavailable');
    mend();
    const run = await b.work(sh('cat log.txt > seen'));
    expect(await b.files(run.resultSourceId)).toMatchObject({ 'log.txt': 'x\n', seen: 'x\n' });
    expect(await recoveries(b)).toEqual([]);
  });
});

// Last in the file: it kills the runner that all threads use.
test.each(rowsOf<Step>(['before capture', 'after capture', 'before blobs'], 0))(
  'its runner dies when it has ended, %s: it is lost, and not run again',
  async (step) => {
    const b = await newBench(s);
    const before = s.service.ctx.runnerStatus()!.pid;
    faultAt(step, () => {
      process.kill(s.service.ctx.runnerStatus()!.pid, 'SIGKILL');
      return Promise.resolve();
    });
    const idem = randomUUID();
    expect(await refusal(exec(b, ONCE, idem))).toBe('503 source_workspace_unavailable');
    expect((await exec(b, ONCE, idem)).headers.get('idempotent-replayed')).toBe('true');
    expect((await ok(exec(b, 'ls'))).exec.stdout).toBe('a.txt\n');
    expect(s.service.ctx.runnerStatus()!.pid).not.toBe(before);
  },
);
