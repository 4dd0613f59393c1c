/**
 * A workspace with unsaved work is archived, and each step of that breaks: the step fails, or its worker is
 * gone and comes back after another has done its work. The work is kept once, each change is published once,
 * and the workspace is archived in the end.
 */
import { Readable } from 'node:stream';
import { RunnerError } from '@headrace/runner/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { StorageUnavailableError } from '../storage/object-store.ts';
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
  leaveUnsaved,
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
  'before tasks',
  'after tasks',
  'before capture',
  'after capture',
  'before blobs',
  'after blobs',
  'before put',
  'after put',
  'before deleteWorkspace',
  'after deleteWorkspace',
];

/** Waits until the n-th attempt has failed, and makes the next one due. */
async function failedTry(b: Bench, n: number): Promise<void> {
  await until(
    `try ${n}`,
    async () =>
      (
        await s.service.ctx.db
          .selectFrom('threads')
          .select('workspace_failures')
          .where('id', '=', b.threadId)
          .executeTakeFirstOrThrow()
      ).workspace_failures === n,
  );
  await settled(s, b);
  pass(s, 2);
}

/** Expects the same end, whatever broke on the way. */
async function expectPutAway(b: Bench, reason: string): Promise<void> {
  await reached(s, b, 'archived');
  await settled(s, b);
  expect(await recoveries(b)).toEqual([{ 'a.txt': 'a\n', 'late.txt': 'late\n' }]);
  const [saved] = await b.list('checkpoints');
  const records = await b.list('workspace/history');
  expect(records[0]).toMatchObject({ to: 'archived', reason, sourceId: saved.sourceId });
  expect(
    (await history(b))
      .filter((change) => change !== 'ready cleanup_pending')
      .map((change) => change.replace('cleanup_pending', 'ready')),
  ).toEqual(['null preparing', 'preparing ready', 'ready archived']);
  await expectTold(s, b);
  expect(await s.service.ctx.runner.workspaceExists(b.threadId)).toBe(false);
  const sources = (await ok(s.call('GET', `${b.app}/sources?limit=100`))).sources as unknown[];
  expect(sources).toHaveLength(2);
}

const SCENES: [string, number, string, (b: Bench) => Promise<unknown>][] = [
  ['its idle time is over', 0, 'idle', () => Promise.resolve(pass(s, 20))],
  ['its thread is archived', 1, 'thread archived', (b) => ok(s.call('PATCH', b.at, { archived: true }))],
];

describe.each(SCENES)('%s', (_, turn, reason, putAway) => {
  const begun = async () => {
    const b = await newBench(s);
    await leaveUnsaved(s, b);
    return b;
  };

  test.each(rowsOf(STEPS, turn, 3))('and the call fails: %s', async (step) => {
    const b = await begun();
    const act = vi.fn(() => Promise.reject(away(step)));
    faultAt(step, act);
    await putAway(b);
    await expectPutAway(b, reason);
    expect(act).toHaveBeenCalledTimes(1);
  });

  test.each(reason === 'idle' ? rowsOf(STEPS, 2, 3) : [])(
    'and its worker is gone, and comes back late: %s',
    async (step) => {
      const b = await begun();
      const [isDone, isBack] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const act = vi.fn(async () => {
        await loseWorker(s, b);
        await isDone.promise;
        isBack.resolve();
      });
      faultAt(step, act);
      await putAway(b);
      await expectPutAway(b, reason);
      expect(act).toHaveBeenCalledTimes(1);
      isDone.resolve();
      await isBack.promise;
      // The end by another worker waits for what the late one does.
      const next = await newBench(s);
      pass(s, 20);
      await reached(s, next, 'archived');
      await expectPutAway(b, reason);
    },
  );

  test('and its contents break off half way', async () => {
    const b = await begun();
    const { runner } = s.service.ctx;
    const { blobs } = runner;
    onMend(() => {
      runner.blobs = blobs;
    });
    runner.blobs = async (...args) => {
      runner.blobs = blobs;
      const whole = await blobs(...args);
      const parts: Buffer[] = [];
      for await (const part of whole) parts.push(part as Buffer);
      const half = Buffer.concat(parts).subarray(0, 514);
      return Readable.from(
        (async function* () {
          yield await Promise.resolve(half);
          throw new Error('The connection broke.');
        })(),
      );
    };
    await putAway(b);
    await expectPutAway(b, reason);
    expect(runner.blobs).toBe(blobs);
  });

  test('and the store takes half of it', async () => {
    const b = await begun();
    const { ctx } = s.service;
    const { store } = ctx;
    onMend(() => {
      ctx.store = store;
    });
    const put = vi.fn(async (key: string, content: Buffer | Uint8Array | Readable) => {
      ctx.store = store;
      await store.put(key, (content as Buffer).subarray(0, 5));
      throw new StorageUnavailableError('The connection broke.');
    });
    ctx.store = new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        return name === 'put' ? put : typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    await putAway(b);
    await expectPutAway(b, reason);
    expect(put).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['kept', 'sources'],
    ['told', 'workspace_records'],
  ])('and the connection is lost as it is %s', async (name, table) => {
    const b = await begun();
    const { db } = s.service.ctx;
    const crash = `crash_${name}_${reason.replaceAll(' ', '_')}`;
    await sql`create sequence ${sql.ref(crash)}`.execute(db);
    // Fails once, at the commit itself: a sequence does not roll back.
    await sql`create function ${sql.ref(crash)}() returns trigger language plpgsql as ${sql.lit(`begin if nextval('${crash}') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; return null; end`)}`.execute(
      db,
    );
    await sql`create constraint trigger ${sql.ref(crash)} after insert on ${sql.table(table)} deferrable initially deferred for each row execute function ${sql.ref(crash)}()`.execute(
      db,
    );
    await putAway(b);
    await expectPutAway(b, reason).finally(() =>
      sql`drop trigger ${sql.ref(crash)} on ${sql.table(table)}`.execute(db),
    );
  });

  test('and its contents wait for a store that does not answer for a while', async () => {
    const b = await begun();
    const [isCalled, isAnswered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    faultAt('before put', async () => {
      isCalled.resolve();
      await isAnswered.promise;
    });
    await putAway(b);
    await isCalled.promise;
    expect(await s.service.ctx.runner.workspaceExists(b.threadId)).toBe(true);
    expect((await b.thread()).workspaceStatus).toBe('ready');
    isAnswered.resolve();
    await expectPutAway(b, reason);
  });
});

describe('while the store is away', () => {
  test('tries come at a growing distance; the workspace stays as it is, without a record', async () => {
    const b = await newBench(s);
    await leaveUnsaved(s, b);
    const begun: number[] = [];
    const act = () => {
      begun.push(Date.now());
      return Promise.reject(away('before put'));
    };
    faultAt('before put', act, 'always');
    const tries = async () =>
      await s.service.ctx.db
        .selectFrom('threads')
        .select([
          'workspace_failures as count',
          sql<number>`extract(epoch from workspace_retry_at) * 1000 - ${s.service.ctx.clock.offsetMs}::bigint`.as(
            'next',
          ),
        ])
        .where('id', '=', b.threadId)
        .executeTakeFirstOrThrow();
    pass(s, 20);
    for (let seen = 0; seen < 9;) {
      // The next try is due now. The clock stays: on a slow machine, the first tries also come by themselves.
      await sql`update threads set workspace_retry_at = now() where id = ${b.threadId} and workspace_failures = ${seen}`.execute(
        s.service.ctx.db,
      );
      const { count, next } = await until(`a try after ${seen}`, async () => {
        const now = await tries();
        return now.count > seen && now;
      });
      const usualMs = Math.min(60, 2 ** (count - 1)) * 1000;
      expect(next - begun[count - 1]!).toBeGreaterThan(0.75 * usualMs - 100);
      expect(next - Date.now()).toBeLessThan(1.25 * usualMs);
      seen = count;
    }
    expect(begun).toHaveLength(9);
    expect(await history(b)).toEqual(['null preparing', 'preparing ready']);
    mend();
    await expectPutAway(b, 'idle');
  });

  test('a message does not wait for the next try, and keeps what no source holds as soon as the store is back', async () => {
    const b = await newBench(s);
    await leaveUnsaved(s, b);
    const act = vi.fn(() => Promise.reject(away('before put')));
    faultAt('before put', act, 'always');
    pass(s, 20);
    for (let n = 1; n <= 4; n++) await failedTry(b, n);
    mend();
    const from = Date.now();
    const run = await b.work(sh('cat late.txt > seen.txt'));
    expect(Date.now() - from).toBeLessThan(4_000);
    expect(await b.files(run.resultSourceId)).toMatchObject({ 'late.txt': 'late\n', 'seen.txt': 'late\n' });
    expect(await history(b)).toEqual(['null preparing', 'preparing ready']);
  });
});

test('an end that stays unconfirmed is tried at a growing distance, and told once', async () => {
  const b = await newBench(s);
  const act = vi.fn(() => Promise.reject(new RunnerError(500, 'internal', 'Its end is not confirmed.')));
  faultAt('before deleteWorkspace', act, 'always');
  pass(s, 20);
  for (let n = 1; n <= 4; n++) await failedTry(b, n);
  expect((await b.thread()).workspaceStatus).toBe('cleanup_pending');
  mend();
  await reached(s, b, 'archived');
  expect(await history(b)).toEqual([
    'null preparing',
    'preparing ready',
    'ready cleanup_pending',
    'cleanup_pending archived',
  ]);
  await expectTold(s, b);
});

test('a run that an archive cut off is kept once, also where its first save fails', async () => {
  const b = await newBench(s);
  const { run } = await b.send(`${sh('echo late > late.txt')}\n\n${sh('sleep 60')}`);
  await b.working(run.id, 1);
  faultAt('before put', () => Promise.reject(away('before put')));
  await ok(s.call('PATCH', b.at, { archived: true }));
  await expectPutAway(b, 'thread archived');
});

const HOLES = 'truncate -s 1G hole1; truncate -s 1G hole2';

test('what is far too large for any source is put away without', async () => {
  const b = await newBench(s);
  await leaveUnsaved(s, b, HOLES);
  pass(s, 20);
  await reached(s, b, 'archived');
  expect(await recoveries(b)).toEqual([]);
  expect(await s.service.ctx.runner.workspaceExists(b.threadId)).toBe(false);
});

const PATTERNS = `i=0; while [ $i -lt 55 ]; do echo '*${'a*'.repeat(20)}b*'; i=$((i+1)); done > .gitignore
i=0; while [ $i -lt 2000 ]; do : > ${'a'.repeat(230)}$i; i=$((i+1)); done`;

test.each([
  ['files that are too large', HOLES, 'too large to be captured'],
  ['patterns that take too long', PATTERNS, 'too long to match'],
])(
  'a run or a command that leaves %s is refused once, and its workspace begins anew',
  async (_, script, why) => {
    const b = await newBench(s);
    const { runner } = s.service.ctx;
    const capture = vi.spyOn(runner, 'capture');
    onMend(() => capture.mockRestore());
    const run = await b.work(sh(script), 'failed');
    expect(run.error).toEqual({ code: 'invalid_result', message: expect.stringContaining(why) });
    expect(capture).toHaveBeenCalledTimes(1);
    const { exec } = await ok(s.call('POST', `${b.at}/exec`, { command: script }));
    expect(exec).toMatchObject({ exitCode: 0, sourceId: null, stderr: expect.stringContaining(why) });
    expect(capture).toHaveBeenCalledTimes(2);
    await until('its end', async () => !(await runner.workspaceExists(b.threadId)));
    const { resultSourceId } = await b.work(sh('echo on > on.txt'));
    expect(await b.files(resultSourceId)).toEqual({ 'a.txt': 'a\n', 'on.txt': 'on\n' });
  },
);

// Run last: they take the runner away from all other tests.
describe('its runner dies', () => {
  const kill = async () => {
    const { pid } = s.service.ctx.runnerStatus()!;
    process.kill(pid, 'SIGKILL');
    await until('another runner', () => {
      const now = s.service.ctx.runnerStatus();
      return now !== null && now.pid !== pid;
    });
  };
  const begun = async () => {
    const b = await newBench(s);
    await leaveUnsaved(s, b);
    return b;
  };

  test.each(rowsOf<Step>(['before tasks', 'before capture', 'after capture'], 0))(
    'before the work was read, %s: it is lost, and told as that',
    async (step) => {
      const b = await begun();
      faultAt(step, kill);
      pass(s, 20);
      await reached(s, b, 'error');
      await settled(s, b);
      expect(await recoveries(b)).toEqual([]);
      expect(await history(b)).toEqual(['null preparing', 'preparing ready', 'ready error']);
      expect((await b.list('workspace/history'))[0]).toMatchObject({
        reason: 'the runtime vanished',
        sourceId: b.sourceId,
      });
      await expectTold(s, b);
    },
  );

  test.each(rowsOf<Step>(['before put', 'after put', 'before deleteWorkspace', 'after deleteWorkspace'], 1))(
    'when the work was read, %s: it is kept',
    async (step) => {
      const b = await begun();
      faultAt(step, kill);
      pass(s, 20);
      await expectPutAway(b, 'idle');
    },
  );
});
