import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../db/database.fixture.ts';
import { transaction } from '../db/transaction.ts';
import { enqueue, enqueueUnlessWaiting } from './enqueue.ts';
import { bus, ctx, database, handle, useJobs, workers } from './jobs.fixture.ts';
import { LostJob } from './job.ts';
import { WorkerLock } from './worker-lock.ts';
import { queueLostJobs } from './store.ts';
import { startWorker } from './worker.ts';
import type { Job, JobHandlers } from './job.ts';
import type { JobWorker } from './worker.ts';

useJobs();

async function start(handlers: JobHandlers): Promise<JobWorker> {
  const worker = await startWorker(ctx(), database.connection, handlers);
  workers.push(worker);
  return worker;
}

const add = (threadId: string, options: { key?: string; delaySeconds?: number } = {}) =>
  transaction(ctx(), (tx) => enqueue(tx, 'run.work', { threadId }, options));
const TURN = { org_id: 'org_1', project_id: 'prj_1' };
const addUnlessWaiting = (threadId: string, key: string) =>
  transaction(ctx(), (tx) => enqueueUnlessWaiting(tx, 'run.work', { threadId }, { key, turnOf: TURN }));
const jobs = () => handle.db.selectFrom('jobs').selectAll().orderBy('id').execute();
const gone = () => vi.waitFor(async () => expect(await jobs()).toEqual([]), { timeout: 15_000 });
type RunJob = Job<'run.work'>;

/** A handler whose jobs end on demand. */
function gated() {
  const begun: { job: RunJob; end: () => void }[] = [];
  return {
    begun,
    run: (job: RunJob) =>
      new Promise<void>((resolve) => {
        begun.push({ job, end: resolve });
        job.signal.addEventListener('abort', () => resolve());
      }),
  };
}
const names = (begun: { job: RunJob }[]) => begun.map(({ job }) => job.payload.threadId);

describe('one job that waits', () => {
  test('is enough for its key, one that has begun is not', async () => {
    const { begun, run } = gated();
    for (const name of ['a1', 'a2', 'b1']) await addUnlessWaiting(name, name[0]!);
    await start({ 'run.work': { run, concurrency: 10 } });
    await vi.waitFor(() => expect(names(begun).sort()).toEqual(['a1', 'b1']));
    for (const name of ['a3', 'a4']) await addUnlessWaiting(name, 'a');
    expect((await jobs()).map(({ payload }) => payload.threadId)).toEqual(['a1', 'b1', 'a3']);
    begun[0]!.end();
    begun[1]!.end();
    await vi.waitFor(() => expect(names(begun).at(-1)).toBe('a3'));
    begun[2]!.end();
    await gone();
  });

  test('begins after the commit of whom it is enough for', async () => {
    const { begun, run } = gated();
    await add('a1', { key: 'a' });
    const commit = Promise.withResolvers<void>();
    const counted = Promise.withResolvers<void>();
    const counting = transaction(ctx(), async (tx) => {
      await enqueueUnlessWaiting(tx, 'run.work', { threadId: 'a2' }, { key: 'a', turnOf: TURN });
      counted.resolve();
      await commit.promise;
    });
    await counted.promise;
    await start({ 'run.work': { run, concurrency: 10 } });
    await add('b1');
    await vi.waitFor(() => expect(names(begun)).toEqual(['b1']));
    commit.resolve();
    await counting;
    await vi.waitFor(() => expect(names(begun)).toEqual(['b1', 'a1']));
    for (const { end } of begun) end();
    await gone();
  });
});

describe('claiming', () => {
  test('jobs of one key run one at a time, in order, those of others beside them', async () => {
    const { begun, run } = gated();
    for (const name of ['a1', 'a2', 'b1', 'a3']) await add(name, { key: name[0]! });
    await start({ 'run.work': { run, concurrency: 10 } });
    await vi.waitFor(() => expect(names(begun).sort()).toEqual(['a1', 'b1']));
    for (const [ended, next] of [
      ['a1', 'a2'],
      ['a2', 'a3'],
    ] as const) {
      begun.find(({ job }) => job.payload.threadId === ended)!.end();
      await vi.waitFor(() => expect(names(begun).at(-1)).toBe(next));
    }
    for (const { end } of begun) end();
    await gone();
    expect(begun.every(({ job }) => job.attempt === 1)).toBe(true);
  });

  test('a job that failed and waits keeps its place before the later ones of its key', async () => {
    const order: string[] = [];
    await add('a1', { key: 'a' });
    await add('a2', { key: 'a' });
    await start({
      'run.work': {
        run: async (job) => {
          order.push(job.payload.threadId);
          if (order.length === 1) throw new Error('once');
        },
        concurrency: 4,
      },
    });
    await gone();
    expect(order).toEqual(['a1', 'a1', 'a2']);
  });

  test('no more of a kind at once than its concurrency, a kind without a handler never', async () => {
    const { begun, run } = gated();
    for (let i = 0; i < 5; i++) await add(`t${i}`);
    await transaction(ctx(), (tx) => enqueue(tx, 'apply.merge', { projectId: 'prj_1' }));
    await start({ 'run.work': { run, concurrency: 2 } });
    await vi.waitFor(() => expect(names(begun)).toEqual(['t0', 't1']));
    expect((await jobs()).map((j) => j.status)).toEqual([
      'active',
      'active',
      'queued',
      'queued',
      'queued',
      'queued',
    ]);
    begun[0]!.end();
    await vi.waitFor(() => expect(begun).toHaveLength(3));
    for (let ended = 1; ended < 5; ended++) {
      await vi.waitFor(() => expect(begun.length).toBeGreaterThan(ended));
      begun[ended]!.end();
    }
    await vi.waitFor(async () => expect((await jobs()).map((j) => j.kind)).toEqual(['apply.merge']));
  });

  test('two workers share the jobs, none is done twice', async () => {
    const done: string[] = [];
    const run = async (job: RunJob) => {
      done.push(job.payload.threadId);
    };
    await Promise.all([
      start({ 'run.work': { run, concurrency: 4 } }),
      start({ 'run.work': { run, concurrency: 4 } }),
    ]);
    const all = Array.from({ length: 60 }, (_, i) => `t${i}`);
    await Promise.all(all.map((name, i) => add(name, i % 2 ? { key: `k${i % 7}` } : {})));
    await gone();
    expect(done.sort()).toEqual(all.sort());
  });

  test('a worker does not get back what it left to others, and takes other jobs meanwhile', async () => {
    const other = gated();
    const taken: string[] = [];
    await add('first');
    await start({ 'run.work': { run: other.run, concurrency: 1 } });
    await vi.waitFor(() => expect(names(other.begun)).toEqual(['first']));
    await start({
      'run.work': {
        run: async (job) => {
          taken.push(job.payload.threadId);
          if (job.payload.threadId === 'left') throw Object.assign(new Error('no'), { isForOthers: true });
        },
        concurrency: 1,
      },
    });
    await add('left');
    await vi.waitFor(() => expect(taken).toEqual(['left']));
    await vi.waitFor(async () => expect((await jobs()).map((job) => job.status)).toContain('queued'));
    // Due again, and older than the next one.
    await handle.db
      .updateTable('jobs')
      .set({ run_at: sql<Date>`now()` })
      .where('status', '=', 'queued')
      .execute();
    await add('next');
    await vi.waitFor(() => expect(taken).toEqual(['left', 'next']));
    other.begun[0]!.end();
    await vi.waitFor(() => expect(names(other.begun)).toEqual(['first', 'left']));
    other.begun[1]!.end();
    await gone();
    expect(taken).toEqual(['left', 'next']);
  });

  test('a job that others do not take comes back', async () => {
    const run = vi.fn(async (job: RunJob) => {
      if (job.failures === 0) throw Object.assign(new Error('not here'), { isForOthers: true });
    });
    await add('left');
    await start({ 'run.work': { run, concurrency: 1 } });
    await gone();
    expect(run).toHaveBeenCalledTimes(2);
  });

  test('a job that is due later waits for its time', async () => {
    const { begun, run } = gated();
    await add('later', { delaySeconds: 3600 });
    await add('now');
    await start({ 'run.work': { run, concurrency: 4 } });
    await vi.waitFor(() => expect(names(begun)).toEqual(['now']));
    await handle.db
      .updateTable('jobs')
      .set({ run_at: sql<Date>`now()` })
      .execute();
    await vi.waitFor(() => expect(names(begun)).toEqual(['now', 'later']), { timeout: 5_000 });
  });

  test('a job of a transaction that is rolled back never runs', async () => {
    const run = vi.fn(async () => {});
    await start({ 'run.work': { run, concurrency: 4 } });
    await expect(
      transaction(ctx(), async (tx) => {
        await enqueue(tx, 'run.work', { threadId: 'none' });
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await add('one');
    await gone();
    expect(run.mock.calls).toHaveLength(1);
  });
});

describe('failing', () => {
  test('comes back later with its failures counted; after the eighth it is dead, told once and gone', async () => {
    const attempts: [number, number][] = [];
    const onDead = vi.fn(async () => {});
    await start({
      'run.work': {
        run: async (job) => {
          attempts.push([job.attempt, job.failures]);
          throw new Error(`attempt ${job.attempt}`);
        },
        concurrency: 4,
        onDead,
      },
    });
    await add('t');
    for (let failures = 1; failures < 8; failures++) {
      await vi.waitFor(
        async () =>
          expect(await jobs()).toMatchObject([
            { failures, status: 'queued', worker_id: null, last_error: `Error: attempt ${failures}` },
          ]),
        { timeout: 5_000, interval: 5 },
      );
      const {
        rows: [wait],
      } = await sql<{
        seconds: number;
      }>`select extract(epoch from run_at - now())::float8 as seconds from jobs`.execute(handle.db);
      expect(wait!.seconds).toBeLessThan(0.2 * 2 ** (failures - 1) * 1.25 + 0.01);
      // Without waiting for it.
      await sql`update jobs set run_at = now() where status = 'queued'`.execute(handle.db);
      bus.notify('jobs');
    }
    await gone();
    expect(attempts).toEqual(Array.from({ length: 8 }, (_, i) => [i + 1, i]));
    expect(onDead.mock.calls).toEqual([
      [{ threadId: 't' }, expect.objectContaining({ message: 'attempt 8' })],
    ]);
  });
});

describe('taking over', () => {
  const takenOver = (id: number) =>
    sql`update jobs set attempt = attempt + 1, worker_id = 'wrk_other' where id = ${id}`.execute(handle.db);

  test('the fence refuses the attempt that lost its job, and that attempt leaves the job alone', async () => {
    await sql`insert into workers (id) values ('wrk_other')`.execute(handle.db);
    const { begun, run } = gated();
    const fenced = vi.fn();
    await start({
      'run.work': {
        run: async (job) => {
          await run(job);
          await transaction(ctx(), (tx) => job.fence(tx)).catch((error: unknown) => {
            fenced(error);
            throw error;
          });
        },
        concurrency: 1,
      },
    });
    await add('t');
    await vi.waitFor(() => expect(begun).toHaveLength(1));
    await transaction(ctx(), (tx) => begun[0]!.job.fence(tx));
    await takenOver(begun[0]!.job.id);
    begun[0]!.end();
    await vi.waitFor(() => expect(fenced.mock.calls).toEqual([[expect.any(LostJob)]]));
    expect(await jobs()).toMatchObject([
      { status: 'active', attempt: 2, failures: 0, worker_id: 'wrk_other' },
    ]);
    await sql`delete from workers where id = 'wrk_other'`.execute(handle.db);
  });

  test('the last attempt gives nothing up that another has taken over', async () => {
    await sql`insert into workers (id) values ('wrk_other')`.execute(handle.db);
    const { begun, run } = gated();
    const [onDead, failed] = [vi.fn(async () => {}), vi.fn()];
    await transaction(ctx(), (tx) => enqueue(tx, 'run.work', { threadId: 't' }, { delaySeconds: 1_000 }));
    await sql`update jobs set failures = 7, run_at = now()`.execute(handle.db);
    await start({
      'run.work': {
        run: async (job) => {
          await run(job);
          failed();
          throw new Error('superseded');
        },
        concurrency: 1,
        onDead,
      },
    });
    await vi.waitFor(() => expect(begun).toHaveLength(1));
    await takenOver(begun[0]!.job.id);
    begun[0]!.end();
    await vi.waitFor(() => expect(failed).toHaveBeenCalled());
    await workers.splice(0)[0]!.stop(1_000);
    expect(onDead).not.toHaveBeenCalled();
    expect(await jobs()).toMatchObject([{ status: 'active', attempt: 2, worker_id: 'wrk_other' }]);
    await sql`delete from workers where id = 'wrk_other'`.execute(handle.db);
  });

  test('a stopping worker aborts its jobs and gives them back at once', async () => {
    const [first, second] = [gated(), gated()];
    const worker = await start({ 'run.work': { run: first.run, concurrency: 1 } });
    await add('t');
    await vi.waitFor(() => expect(first.begun).toHaveLength(1));
    await worker.stop(5_000);
    expect(first.begun[0]!.job.signal.aborted).toBe(true);
    expect(await jobs()).toMatchObject([{ status: 'queued', worker_id: null, failures: 0 }]);
    await start({ 'run.work': { run: second.run, concurrency: 1 } });
    await vi.waitFor(() => expect(second.begun[0]!.job.attempt).toBe(2));
  });

  test("a killed process's job goes to another worker within seconds, with a higher attempt", async () => {
    await add('t');
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', DYING_WORKER, JSON.stringify(database.connection)],
      { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    try {
      await once(child.stdout, 'data');
      const { begun, run } = gated();
      await start({ 'run.work': { run, concurrency: 1 } });
      expect(await jobs()).toMatchObject([{ status: 'active', attempt: 1 }]);
      child.kill('SIGKILL');
      await vi.waitFor(() => expect(begun.map(({ job }) => [job.attempt, job.failures])).toEqual([[2, 0]]), {
        timeout: 15_000,
      });
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('a worker without lock and heartbeat is dead only to who has seen this very server for 5 s', async () => {
    await sql`insert into workers (id, heartbeat_at) values ('wrk_silent', now() - interval '1 minute')`.execute(
      handle.db,
    );
    const isKnown = async () =>
      (await handle.db.selectFrom('workers').select('id').where('id', '=', 'wrk_silent').execute()).length >
      0;
    const { identity } = ctx().bus.seenServer()!;
    // As after a failover: the locks are gone, the heartbeats are old, and the server has been up for long.
    for (const server of [
      null,
      { identity, seenMs: 4_999 },
      { identity: identity.replace(/\/(\d+)\//, '/00000002/'), seenMs: 60_000 },
    ]) {
      await queueLostJobs(handle.db, 'wrk_checker', server);
      expect(await isKnown(), JSON.stringify(server)).toBe(true);
    }
    const server = { identity, seenMs: 5_000 };
    expect(await queueLostJobs(handle.db, 'wrk_checker', server)).toBe(false);
    expect(await isKnown()).toBe(false);
  });

  test("another database's worker with the same key keeps no dead one alive", async () => {
    const other = await createTestDatabase();
    const client = new pg.Client(other.connection);
    await client.connect();
    try {
      const {
        rows: [dead],
      } = await sql<{
        lock_key: number;
      }>`insert into workers (id, heartbeat_at) values ('wrk_dead', now() - interval '1 minute') returning lock_key`.execute(
        handle.db,
      );
      await client.query('select pg_advisory_lock($1)', [dead!.lock_key]);
      await sql`insert into jobs (kind, payload, status, attempt, worker_id, claimed_at) values ('run.work', '{"threadId": "left"}', 'active', 1, 'wrk_dead', now() - interval '1 minute')`.execute(
        handle.db,
      );
      const { begun, run } = gated();
      await start({ 'run.work': { run, concurrency: 1 } });
      await vi.waitFor(() => expect(names(begun)).toEqual(['left']), { timeout: 15_000 });
    } finally {
      await client.end();
      await other.drop();
    }
  });

  test('a worker whose lock connection breaks locks again, and keeps its jobs', async () => {
    const { begun, run } = gated();
    await start({ 'run.work': { run, concurrency: 2 } });
    const other = gated();
    await start({ 'run.work': { run: other.run, concurrency: 1 } });
    await add('t1');
    await vi.waitFor(() => expect(begun.length + other.begun.length).toBe(1));
    await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`.execute(
      handle.db,
    );
    await vi.waitFor(async () => expect(await locked()).toEqual(await known()), { timeout: 10_000 });
    await add('t2');
    await vi.waitFor(() => expect(begun.length + other.begun.length).toBe(2), { timeout: 5_000 });
    expect((await jobs()).map((j) => j.attempt)).toEqual([1, 1]);
  });

  test('a worker that was taken for dead is known again by the lock it holds', async () => {
    await start({ 'run.work': { run: async () => {}, concurrency: 1 } });
    const before = await known();
    await sql`delete from workers`.execute(handle.db);
    await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`.execute(
      handle.db,
    );
    await vi.waitFor(async () => expect(await known()).toEqual(before), { timeout: 10_000 });
    expect(await locked()).toEqual(before);
  });

  test('a worker without its lock for long aborts its jobs, which go on once it is back', async () => {
    const { begun, run } = gated();
    await start({ 'run.work': { run, concurrency: 1 } });
    await add('t');
    await vi.waitFor(() => expect(begun).toHaveLength(1));
    // The server says no to this worker's every attempt to lock.
    const rival = await handle.pool.connect();
    try {
      const [key] = await known();
      await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`.execute(
        handle.db,
      );
      await rival.query('select pg_advisory_lock($1)', [key]);
      await vi.waitFor(() => expect(begun[0]!.job.signal.aborted).toBe(true), { timeout: 15_000 });
    } finally {
      await rival.query('select pg_advisory_unlock_all()');
      rival.release();
    }
    await vi.waitFor(() => expect(begun.map(({ job }) => job.attempt)).toEqual([1, 2]), { timeout: 15_000 });
  });

  test('a job that this worker holds and does not work on, since the database was away, comes back', async () => {
    const { begun, run } = gated();
    await start({ 'run.work': { run, concurrency: 2 } });
    const [{ id }] = (await handle.db.selectFrom('workers').select('id').execute()) as [{ id: string }];
    await sql`insert into jobs (kind, payload, status, attempt, worker_id, claimed_at) values ('run.work', '{"threadId": "forgotten"}', 'active', 1, ${id}, now() - interval '1 minute')`.execute(
      handle.db,
    );
    await add('t');
    await vi.waitFor(() => expect(names(begun).sort()).toEqual(['forgotten', 't']), { timeout: 10_000 });
    expect((await jobs()).map((j) => j.attempt).sort()).toEqual([1, 2]);
  });

  const known = async () =>
    (await handle.db.selectFrom('workers').select('lock_key').orderBy('lock_key').execute()).map(
      (w) => w.lock_key,
    );
  const locked = async () =>
    (
      await sql<{
        key: number;
      }>`select (classid::bigint << 32 | objid::bigint) as key from pg_locks where locktype = 'advisory' and objsubid = 1 and granted and database = (select oid from pg_database where datname = current_database()) order by 1`.execute(
        handle.db,
      )
    ).rows.map((l) => l.key);
});

describe('keeping house', () => {
  const idle = { 'run.work': { run: async () => {}, concurrency: 1 } };
  const WITHIN = { timeout: 10_000 };

  test('is the work of the eldest, and of the next one once it has stopped', async () => {
    const [first, second] = [await start(idle), await start(idle)];
    expect([first.isHousekeeper, second.isHousekeeper]).toEqual([true, false]);
    await first.stop(1_000);
    expect(first.isHousekeeper).toBe(false);
    await vi.waitFor(() => expect(second.isHousekeeper).toBe(true), WITHIN);
  });

  test('passes to the next one when the eldest loses its lock, or is silent with it', async () => {
    const elder = await WorkerLock.take(handle.db, 'wrk_0', database.connection);
    const beating = setInterval(() => void elder.beat().catch(() => {}), 200);
    try {
      const worker = await start(idle);
      expect(worker.isHousekeeper).toBe(false);
      clearInterval(beating);
      await elder.beat();
      const silentSince = performance.now();
      await vi.waitFor(() => expect(worker.isHousekeeper).toBe(true), WITHIN);
      expect(performance.now() - silentSince).toBeGreaterThan(1_500);
      await elder.beat();
      await vi.waitFor(() => expect(worker.isHousekeeper).toBe(false), WITHIN);
      // Its row stays as fresh as if it had just beaten.
      await sql`update workers set heartbeat_at = now() + interval '1 minute' where id = 'wrk_0'`.execute(
        handle.db,
      );
      await elder.release();
      await vi.waitFor(() => expect(worker.isHousekeeper).toBe(true), WITHIN);
    } finally {
      clearInterval(beating);
      await elder.release();
      await sql`delete from workers where id = 'wrk_0'`.execute(handle.db);
    }
  });

  test('ends while the database is away', async () => {
    const worker = await start(idle);
    expect(worker.isHousekeeper).toBe(true);
    const rival = await handle.pool.connect();
    try {
      const { rows } = await rival.query<{ key: string }>('select lock_key as key from workers');
      await rival.query(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
      );
      await rival.query('select pg_advisory_lock($1)', [rows[0]!.key]);
      await vi.waitFor(() => expect(worker.isHousekeeper).toBe(false), WITHIN);
    } finally {
      await rival.query('select pg_advisory_unlock_all()');
      rival.release();
    }
    await vi.waitFor(() => expect(worker.isHousekeeper).toBe(true), WITHIN);
  });

  test('jobs whose worker has no row come back, those of workers that live stay', async () => {
    const { begun, run } = gated();
    const worker = await start({ 'run.work': { run, concurrency: 1 } });
    await add('held');
    await vi.waitFor(() => expect(names(begun)).toEqual(['held']));
    for (const id of ['wrk_a', 'wrk_b', 'wrk_z'])
      await sql`insert into jobs (kind, payload, status, attempt, worker_id, claimed_at) values ('build.work', '{}', 'active', 1, ${id}, now())`.execute(
        handle.db,
      );
    const active = async () =>
      (await jobs()).filter(({ status }) => status === 'active').map(({ kind }) => kind);
    await vi.waitFor(async () => expect(await active()).toEqual(['run.work']), WITHIN);
    expect((await jobs()).filter(({ worker_id: id }) => id === null)).toHaveLength(3);
    expect(worker.isHousekeeper).toBe(true);
    begun[0]!.end();
  });

  test('a hint among many workers is followed', async () => {
    for (let n = 1; n <= 40; n++)
      await sql`insert into workers (id, heartbeat_at) values (${`wrx_${n}`}, now() + interval '1 minute')`.execute(
        handle.db,
      );
    try {
      const { begun, run } = gated();
      await start({ 'run.work': { run, concurrency: 1 } });
      await add('t');
      await vi.waitFor(() => expect(names(begun)).toEqual(['t']), WITHIN);
      begun[0]!.end();
      await gone();
    } finally {
      await sql`delete from workers where id like 'wrx%'`.execute(handle.db);
    }
  });
});

/** Claims the job and says so; never ends it. */
const DYING_WORKER = `
  import pino from 'pino';
  import { noMetrics } from '@headrace/runner/metrics';
  import { openBus } from './../bus.ts';
  import { openDatabase } from './../db/database.ts';
  import { startWorker } from './worker.ts';
  const connection = JSON.parse(process.argv[1]);
  const log = pino({ level: 'silent' });
  const { db } = openDatabase(connection, { max: 4 });
  await startWorker({ db, bus: await openBus(connection, 'wrk_dying', log), log, metrics: noMetrics() }, connection, { 'run.work': { concurrency: 1, run: () => { process.stdout.write('claimed'); return new Promise(() => {}); } } });
`;
