/**
 * A run ends, and each step of that breaks. A completed run has its result, once. After a run that failed or
 * was stopped the last result stays, and the run's changes are kept once, at the latest with the next use of
 * its workspace or its end.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rowsOf } from '../fault-tables.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import {
  away,
  expectTold,
  faultsOf,
  history,
  hurry,
  loseWorker,
  pass,
  reached,
  recoveries,
  settled,
} from './workspaces.fixture.ts';
import type { Step } from './workspaces.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
  return hurry(s);
});
afterAll(async () => {
  await s?.close();
});

const { faultAt, mend, onMend } = faultsOf(() => s);

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
const BACK: Step[] = ['before patch', 'after patch'];

type Fault = (b: Bench, step: Step) => { act: () => Promise<void>; over: () => void };
/** Fails the first step, or loses the worker there; `over` lets the lost worker end. */
const FAULTS: [string, number, Fault][] = [
  ['the call fails', 0, (_, step) => ({ act: () => Promise.reject(away(step)), over: () => {} })],
  [
    'its worker is gone',
    1,
    (b) => {
      const isOver = Promise.withResolvers<void>();
      return {
        act: async () => {
          await loseWorker(s, b);
          await isOver.promise;
          throw new Error('It is gone.');
        },
        over: isOver.resolve,
      };
    },
  ],
];

const endsOf = async (b: Bench, runId: string): Promise<string[]> =>
  (await ok(s.call('GET', `${b.app}/events?limit=500&runId=${runId}`))).events
    .map((e: { type: string }) => e.type)
    .filter((type: string) =>
      /^(run\.(completed|failed|cancelled)|platform\.source\.imported|checkpoint\.created)$/.test(type),
    );

describe.each(FAULTS)('%s', (_, turn, fault) => {
  test.each(rowsOf(STEPS, turn))('%s: a run that completed has its result, once', async (step) => {
    const b = await newBench(s);
    const { act, over } = fault(b, step);
    const met = vi.fn(act);
    faultAt(step, met);
    const run = await b.work(sh('echo b > b.txt'));
    expect(await b.files(run.resultSourceId)).toEqual({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await until('the fault', () => met.mock.calls.length === 1);
    over();
    await settled(s, b);
    expect(await endsOf(b, run.id)).toEqual([
      'platform.source.imported',
      'checkpoint.created',
      'run.completed',
    ]);
    expect((await b.list('checkpoints')).map((c: { kind: string }) => c.kind)).toEqual(['run']);
    expect(await recoveries(b)).toEqual([]);
  });

  test.each(rowsOf([...STEPS, ...BACK], turn + 1))(
    '%s: of a run that failed the last result stays, and what it had changed is kept, once',
    async (step) => {
      const b = await newBench(s);
      const { act, over } = fault(b, step);
      const met = vi.fn(act);
      faultAt(step, met);
      const run = await b.work(sh('echo half > half.txt; echo bad > a.txt; exit 1'), 'failed');
      await until('the fault', () => met.mock.calls.length === 1);
      expect([run.resultSourceId, (await b.thread()).latestSourceId]).toEqual([null, b.sourceId]);
      over();
      // The runner may still be noticing that nobody reads its last answer: a client retries a 503.
      const exec = () => s.call('POST', `${b.at}/exec`, { command: 'cat a.txt; ls' });
      let answer = await exec();
      await until('a free workspace', async () => {
        if (answer.status === 503) answer = await exec();
        return answer.status !== 503;
      });
      expect(answer.body).toMatchObject({ ok: true, exec: { stdout: 'a\na.txt\n', sourceId: null } });
      expect(await recoveries(b)).toEqual([{ 'a.txt': 'bad\n', 'half.txt': 'half\n' }]);
      expect(await history(b)).toEqual(['null preparing', 'preparing ready']);
      await expectTold(s, b);
    },
  );
});

test.each(BACK)(
  'what no source can hold is not removed %s: the next use removes it, and the rest is kept once',
  async (step) => {
    const b = await newBench(s);
    const met = vi.fn(() => Promise.reject(away(step)));
    faultAt(step, met);
    const bad = `"$(printf 'bad\\377')"`;
    await b.work(sh(`echo half > half.txt; echo bad > 'tab\t'; echo bad > ${bad}`), 'failed');
    await until('the fault', () => met.mock.calls.length === 1);
    const run = await b.work(sh('ls > seen'));
    expect(await b.files(run.resultSourceId)).toEqual({ 'a.txt': 'a\n', seen: 'a.txt\nseen\n' });
    expect(await recoveries(b)).toEqual([{ 'a.txt': 'a\n', 'half.txt': 'half\n' }]);
  },
);

test('its journal breaks off, and for a moment the runner does not answer: it is read again', async () => {
  const b = await newBench(s);
  const { runner } = s.service.ctx;
  const { journal, task } = runner;
  onMend(() => Object.assign(runner, { journal, task }));
  runner.journal = async function* broken(...args) {
    for await (const entry of journal(...args)) {
      yield entry;
      if (entry.type !== 'tool') continue;
      runner.journal = journal;
      runner.task = () => {
        runner.task = task;
        return Promise.reject(away('before capture'));
      };
      throw away('before capture');
    }
  };
  const run = await b.work(sh('sleep 0.5; echo b > b.txt'));
  expect([await b.files(run.resultSourceId), runner.task, runner.journal]).toEqual([
    { 'a.txt': 'a\n', 'b.txt': 'b\n' },
    task,
    journal,
  ]);
});

describe('while the store is away', () => {
  test('a stop is done within two seconds; what had changed is kept when the workspace is put away', async () => {
    const b = await newBench(s);
    const { run } = await b.send(`${sh('echo half > half.txt')}\n\n${sh('sleep 60')}`);
    await b.working(run.id, 1);
    faultAt('before put', () => Promise.reject(away('before put')), 'always');
    const from = Date.now();
    await ok(s.call('POST', `${b.at}/stop`, {}));
    expect((await b.ended(run.id)).status).toBe('cancelled');
    expect(Date.now() - from).toBeLessThan(5_000);
    expect([await recoveries(b), (await b.thread()).workspaceStatus]).toEqual([[], 'ready']);
    pass(s, 20);
    await until(
      'a failed try',
      async () =>
        (
          await s.service.ctx.db
            .selectFrom('threads')
            .select('workspace_failures')
            .where('id', '=', b.threadId)
            .executeTakeFirstOrThrow()
        ).workspace_failures > 0,
    );
    mend();
    await reached(s, b, 'archived');
    expect(await recoveries(b)).toEqual([{ 'a.txt': 'a\n', 'half.txt': 'half\n' }]);
    expect((await b.thread()).latestSourceId).toBe(b.sourceId);
    expect(await history(b)).toEqual(['null preparing', 'preparing ready', 'ready archived']);
    await expectTold(s, b);
  });

  test('an edit comes between: what had changed is kept before the workspace is brought to it', async () => {
    const b = await newBench(s);
    faultAt('before put', () => Promise.reject(away('before put')));
    await b.work(sh('echo half > a.txt; exit 1'), 'failed');
    await settled(s, b);
    await ok(
      s.call('POST', `${b.at}/edits`, {
        expectedSourceId: b.sourceId,
        changes: [{ path: 'a.txt', content: 'edited\n' }],
      }),
    );
    const next = await b.work(sh('cat a.txt > seen'));
    expect((await b.files(next.resultSourceId)).seen).toBe('edited\n');
    expect(await recoveries(b)).toEqual([{ 'a.txt': 'half\n' }]);
  });

  test('a run that completed waits for it, as long as it takes', async () => {
    const b = await newBench(s);
    const met = vi.fn(() => Promise.reject(away('before put')));
    faultAt('before put', met, 'always');
    const { run } = await b.send(sh('echo b > b.txt'));
    await until('three tries', () => met.mock.calls.length >= 3);
    expect((await ok(s.call('GET', `${b.at}/runs/${run.id}`))).run.status).toBe('running');
    mend();
    expect(await b.files((await b.ended(run.id)).resultSourceId)).toEqual({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  });
});
