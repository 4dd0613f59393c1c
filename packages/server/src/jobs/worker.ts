/**
 * The job worker. Why an own table: receipts, events and jobs share one transaction, an uncertain build
 * must not be run again, and a killed worker's work has to be noticed in a second (measured: this table 0.5
 * s, pg-boss 11-30 s, graphile-worker 4 h).
 *
 *   queued --claim (SKIP LOCKED, attempt + 1)--> active --handler returned--> (deleted)
 *                                                active --handler threw-----> queued, later (backoff), at
 *                                                most MAX_FAILURES times
 *                                                active --its worker died---> queued (its next claim has a
 *                                                higher attempt)
 *
 * Every write of a handler that matters is fenced: `job.fence(tx)` fails when the job was taken over
 * meanwhile. A worker is dead when its session lock is free AND its heartbeat is over 2 s old AND the
 * server has been up for 5 s: a killed postmaster frees every lock at once. A worker that lost its lock for
 * 4 s stops its own work first.
 */
import { sql } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Bus } from '../bus.ts';
import type { Db } from '../db/database.ts';
import type { JobRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { createClaim } from './claim.ts';
import type { JobKind } from './enqueue.ts';
import { LostJob } from './job.ts';
import type { HeldJob, Job, JobHandlers } from './job.ts';

const HEARTBEAT_MS = 500;
const POLL_MS = 1_000;
const MAX_FAILURES = 8;
/** Without its lock for this long a worker stops its own work: others take it over by then. */
const LOST_MS = 4_000;
const LOCK_TIMEOUT_MS = 2_000;

export interface JobWorker {
  /**
   * Stops claiming, aborts the handlers' signals, waits for them at most `graceMs`, gives their jobs back.
   */
  stop(graceMs: number): Promise<void>;
}

/** Starts claiming jobs of the handlers' kinds. */
export async function startWorker(
  ctx: { db: Db; bus: Bus; log: Logger },
  connection: pg.PoolConfig,
  handlers: JobHandlers,
): Promise<JobWorker> {
  const workerId = newId('wrk');
  const abort = new AbortController();
  const running = new Map<number, HeldJob & { done: Promise<void> }>();
  const claim = createClaim(ctx.db, workerId);
  const { lock_key: lockKey } = await ctx.db
    .insertInto('workers')
    .values({ id: workerId })
    .returning('lock_key')
    .executeTakeFirstOrThrow();
  let lock: pg.Client | null = null;
  let lostAt: number | null = null;
  /** Aborted, and replaced, when the lock was lost for too long. */
  let tenure = new AbortController();
  let isBeating = false;
  let isClaiming = false;
  let claimAgain = false;

  async function holdLock(): Promise<void> {
    // The connection that broke may still hold the lock at the server for a while: a bounded wait, then the
    // next heartbeat tries.
    const client = new pg.Client({
      ...connection,
      keepAlive: true,
      connectionTimeoutMillis: LOCK_TIMEOUT_MS,
      statement_timeout: LOCK_TIMEOUT_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select pg_advisory_lock($1)', [lockKey]);
      // A rival may have taken this worker for dead: known again, by the lock that it holds.
      await client.query(
        'insert into workers (id, lock_key) overriding system value values ($1, $2) on conflict (id) do nothing',
        [workerId, lockKey],
      );
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    client.once('end', () => {
      if (lock === client) lock = null;
    });
    lock = client;
  }

  async function heartbeat(): Promise<void> {
    if (isBeating) return;
    isBeating = true;
    try {
      if (!lock) await holdLock();
      await lock!.query('update workers set heartbeat_at = now() where id = $1', [workerId]);
      lostAt = null;
      await reviveDead();
    } catch (error) {
      ctx.log.debug({ err: error }, 'worker heartbeat failed');
      lostAt ??= Date.now();
    } finally {
      isBeating = false;
    }
    if (lostAt === null || Date.now() - lostAt < LOST_MS || running.size === 0) return;
    ctx.log.warn({ jobs: [...running.keys()] }, 'this worker lost its lock; its jobs will be taken over');
    tenure.abort();
    tenure = new AbortController();
  }

  /**
   * Gives back the jobs of workers that died. The server lists the locks of all its databases: another's
   * worker may have the same key.
   */
  async function reviveDead(): Promise<void> {
    const { rows } = await sql<{ id: string }>`
      with dead as (
        select w.id from workers w
        where w.id <> ${workerId} and w.heartbeat_at < now() - interval '2 seconds' and pg_postmaster_start_time() < now() - interval '5 seconds'
          and not exists (select 1 from pg_locks l where l.locktype = 'advisory' and l.objsubid = 1 and l.database = (select oid from pg_database where datname = current_database()) and (l.classid::bigint << 32 | l.objid::bigint) = w.lock_key)
      ), gone as (delete from workers using dead where workers.id = dead.id returning workers.id)
      update jobs set status = 'queued', worker_id = null, run_at = now()
      where status = 'active' and worker_id in (select id from gone) returning jobs.worker_id as id`.execute(
      ctx.db,
    );
    // Jobs whose worker row is gone altogether (a crash in between) come back the same way, and those that
    // are this worker's on paper only: their end could not be recorded while the database was away. A claim
    // on its way is younger than 5 s.
    const orphans = await sql`
      update jobs set status = 'queued', worker_id = null, run_at = now() where status = 'active'
        and (not exists (select 1 from workers w where w.id = jobs.worker_id) or (worker_id = ${workerId} and claimed_at < now() - interval '5 seconds' and id <> all(${[...running.keys()]}::bigint[])))`.execute(
      ctx.db,
    );
    if (rows.length || Number(orphans.numAffectedRows ?? 0) > 0) ctx.bus.notify('jobs');
  }

  /** The kinds of which this worker may hold one more. */
  function room(): JobKind[] {
    const held = [...running.values()];
    return (Object.keys(handlers) as JobKind[]).filter((kind) => {
      const { concurrency } = handlers[kind]!;
      return (
        held.filter((h) => h.kind === kind).length <
        (typeof concurrency === 'number' ? concurrency : concurrency(held))
      );
    });
  }

  async function claimAll(): Promise<void> {
    if (isClaiming) {
      claimAgain = true;
      return;
    }
    isClaiming = true;
    try {
      do {
        claimAgain = false;
        for (;;) {
          if (abort.signal.aborted || !lock) break;
          const row = await claim(room());
          if (!row) break;
          begin(row);
        }
      } while (claimAgain);
    } catch (error) {
      ctx.log.debug({ err: error }, 'claiming jobs failed');
    } finally {
      isClaiming = false;
    }
  }

  function begin(row: JobRow): void {
    const kind = row.kind as JobKind;
    const held: HeldJob & { done: Promise<void> } = {
      kind,
      since: Date.now(),
      isWaiting: false,
      done: Promise.resolve(),
    };
    running.set(row.id, held);
    held.done = work(row, kind, AbortSignal.any([abort.signal, tenure.signal]), waiter(row, held)).finally(
      () => {
        if (running.get(row.id) === held) running.delete(row.id);
        void claimAll();
      },
    );
  }

  /** Its place is free at once; the row says it to the other workers' turns, in order. */
  function waiter(row: JobRow, held: HeldJob): (isWaiting: boolean) => void {
    let told: Promise<unknown> = Promise.resolve();
    return (isWaiting) => {
      if (held.isWaiting === isWaiting) return;
      held.isWaiting = isWaiting;
      told = told
        .then(() => ctx.db.updateTable('jobs').set({ waiting: isWaiting }).where(isOurs(row)).execute())
        .catch((err: unknown) =>
          ctx.log.debug({ err, job: row.id }, 'a job that waits could not be recorded'),
        );
      if (isWaiting) void claimAll();
    };
  }

  const isOurs = (row: JobRow) =>
    sql<boolean>`id = ${row.id} and attempt = ${row.attempt} and status = 'active'`;

  async function work(
    row: JobRow,
    kind: JobKind,
    signal: AbortSignal,
    setWaiting: Job['setWaiting'],
  ): Promise<void> {
    const handler = handlers[kind]! as {
      run: (job: Job) => Promise<void>;
      onDead?: (payload: unknown, error: unknown) => Promise<void>;
    };
    const fence = async (tx: Tx) => {
      const held = await tx.db
        .selectFrom('jobs')
        .select('id')
        .where(isOurs(row))
        .forUpdate()
        .executeTakeFirst();
      if (!held) throw new LostJob(`job ${row.id} was taken over`);
    };
    try {
      await handler.run({
        id: row.id,
        attempt: row.attempt,
        claimedAt: row.claimed_at!.getTime(),
        failures: row.failures,
        payload: row.payload as never,
        fence,
        signal,
        setWaiting,
      });
      if (signal.aborted) return;
      await ctx.db.deleteFrom('jobs').where(isOurs(row)).execute();
      ctx.bus.notify('jobs');
    } catch (error) {
      if (error instanceof LostJob || signal.aborted) return;
      await failed(row, error, handler.onDead).catch((err: unknown) =>
        ctx.log.error({ err, job: row.id }, 'a failed job could not be recorded'),
      );
    }
  }

  async function failed(
    row: JobRow,
    error: unknown,
    onDead?: (payload: unknown, error: unknown) => Promise<void>,
  ): Promise<void> {
    ctx.log.warn({ err: error, job: row.id, kind: row.kind, failures: row.failures + 1 }, 'job failed');
    if (row.failures + 1 >= MAX_FAILURES) {
      // Whoever took it over goes on with it, whatever became of this attempt.
      if (!(await ctx.db.selectFrom('jobs').select('id').where(isOurs(row)).executeTakeFirst())) return;
      await onDead?.(row.payload, error);
      await ctx.db.deleteFrom('jobs').where(isOurs(row)).execute();
      return;
    }
    const delay = Math.min(30, 0.2 * 2 ** row.failures) * (0.75 + Math.random() / 2);
    await ctx.db
      .updateTable('jobs')
      .set({
        status: 'queued',
        worker_id: null,
        failures: row.failures + 1,
        last_error: String(error).slice(0, 2000),
        run_at: sql<Date>`now() + ${delay} * interval '1 second'`,
      })
      .where(isOurs(row))
      .execute();
  }

  await holdLock();
  await heartbeat();
  const beat = setInterval(() => void heartbeat(), HEARTBEAT_MS);
  const poll = setInterval(() => void claimAll(), POLL_MS);
  const unlisten = ctx.bus.listen('jobs', () => void claimAll());
  void claimAll();

  return {
    async stop(graceMs) {
      clearInterval(beat);
      clearInterval(poll);
      unlisten();
      abort.abort();
      await Promise.race([
        Promise.allSettled([...running.values()].map((r) => r.done)),
        new Promise((resolve) => {
          setTimeout(resolve, graceMs).unref();
        }),
      ]);
      await ctx.db
        .updateTable('jobs')
        .set({ status: 'queued', worker_id: null })
        .where('worker_id', '=', workerId)
        .where('status', '=', 'active')
        .execute()
        .catch(() => {});
      await ctx.db
        .deleteFrom('workers')
        .where('id', '=', workerId)
        .execute()
        .catch(() => {});
      await lock?.end().catch(() => {});
    },
  };
}
