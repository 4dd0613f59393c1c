/** The statements on `jobs` and `workers`; those that add jobs are in enqueue.ts, that which claims one in claim.ts. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type pg from 'pg';
import type { Db } from '../db/database.ts';
import { prepared } from '../db/prepared.ts';
import type { SeenServer } from '../db/server-view.ts';
import type { JobRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

/** An attempt at a job: no other worker's, and no later one. */
export type Attempt = Pick<JobRow, 'id' | 'attempt'>;

const isOurs = ({ id, attempt }: Attempt) =>
  sql<boolean>`id = ${id} and attempt = ${attempt} and status = 'active'`;

/** Returns the key of the lock that says that the worker lives. */
export async function insertWorker(db: Db, id: string): Promise<number> {
  const { lock_key: lockKey } = await db
    .insertInto('workers')
    .values({ id })
    .returning('lock_key')
    .executeTakeFirstOrThrow();
  return lockKey;
}

/** On the connection that holds the worker's lock: its row again, where a rival took the worker for dead. */
export async function restoreWorker(client: pg.Client, id: string, lockKey: number): Promise<void> {
  await client.query(
    'insert into workers (id, lock_key) overriding system value values ($1, $2) on conflict (id) do nothing',
    [id, lockKey],
  );
}

/**
 * On the connection that holds the worker's lock. An older worker lives while its heartbeat is fresh and its lock is taken: one
 * that was killed is noticed at the next heartbeat. Returns whether there is none. Mostly the first one lives, and the
 * look ends there.
 */
export async function recordHeartbeat(client: pg.Client, id: string): Promise<boolean> {
  const { rows } = await client.query<{ isEldest: boolean }>({
    name: 'beat',
    text: `
      with beat as (update workers set heartbeat_at = now() where id = $1 returning id)
      select exists (select from beat) and not exists (
        select from (select lock_key, heartbeat_at from workers where id < $1 order by id offset 0) as elder
        where heartbeat_at > now() - interval '2 seconds' and not (pg_try_advisory_lock_shared(lock_key) and pg_advisory_unlock_shared(lock_key))
      ) as "isEldest"`,
    values: [id],
  });
  return rows[0]!.isEldest;
}

const livingWorkers = prepared<{ count: number }>(
  'living_workers',
  "select count(*) as count from workers where heartbeat_at > now() - interval '2 seconds'",
);

export async function countWorkers(db: Db): Promise<number> {
  const { rows } = await db.executeQuery(livingWorkers([]));
  return rows[0]!.count;
}

export async function deleteWorker(db: Db, id: string): Promise<void> {
  await db.deleteFrom('workers').where('id', '=', id).execute();
}

// The server lists the locks of all its databases: another's worker may have the same key. `$2` is the server that this
// process has seen for long enough.
const queueOfDead = prepared(
  'queue_jobs_of_dead',
  `
    with dead as (
      select w.id from workers w
      where w.id <> $1 and w.heartbeat_at < now() - interval '2 seconds' and server_identity() = $2
        and not exists (select 1 from pg_locks l where l.locktype = 'advisory' and l.objsubid = 1 and l.database = (select oid from pg_database where datname = current_database()) and (l.classid::bigint << 32 | l.objid::bigint) = w.lock_key)
    ), gone as (delete from workers using dead where workers.id = dead.id returning workers.id)
    update jobs set status = 'queued', worker_id = null, run_at = now()
    where status = 'active' and worker_id in (select id from gone) returning jobs.worker_id as id`,
);
// The workers of active jobs, found by walking their index: a few steps, however many jobs they have.
const queueOrphans = prepared(
  'queue_orphans',
  `
    with recursive holders as (
      (select worker_id as id from jobs where status = 'active' order by worker_id limit 1)
      union all
      select (select worker_id from jobs where status = 'active' and worker_id > holders.id order by worker_id limit 1) from holders where id is not null
    ), gone as (
      select h.id from holders h where h.id is not null and not exists (select from workers w where w.id = h.id)
    )
    update jobs set status = 'queued', worker_id = null, run_at = now() where status = 'active' and worker_id = any (array (select id from gone))`,
);
// A claim on its way is younger than 5 s.
const queueForgotten = prepared(
  'queue_forgotten',
  `
    update jobs set status = 'queued', worker_id = null, run_at = now()
    where status = 'active' and worker_id = $1 and claimed_at < now() - interval '5 seconds' and id <> all($2::bigint[])`,
);

/** A worker that lives has its lock again within this time, once there is a server. */
const SEEN_MS = 5_000;

/**
 * Queues the jobs of workers that died, and those whose worker's row is gone altogether (a crash in between); returns
 * whether there were any. One worker of all does it.
 */
export async function queueLostJobs(db: Db, workerId: string, server: SeenServer | null): Promise<boolean> {
  const { rows } =
    server && server.seenMs >= SEEN_MS
      ? await db.executeQuery(queueOfDead([workerId, server.identity]))
      : { rows: [] };
  const orphans = await db.executeQuery(queueOrphans([]));
  return rows.length > 0 || Number(orphans.numAffectedRows ?? 0) > 0;
}

/**
 * Queues the jobs that are this worker's on paper only, as their end could not be recorded while the database
 * was away; returns whether there were any. `held`: the jobs that it works on.
 */
export async function queueForgottenJobs(db: Db, workerId: string, held: number[]): Promise<boolean> {
  const { numAffectedRows } = await db.executeQuery(queueForgotten([workerId, held]));
  return Number(numAffectedRows ?? 0) > 0;
}

const firstDue = prepared<{ isDue: boolean | null }>(
  'first_due_job',
  `select min(run_at at time zone 'UTC') <= now() at time zone 'UTC' as "isDue" from jobs where status = 'queued'`,
);

/** Whether a queued job's time has come. Its key may be busy. */
export async function isAnyDue(db: Db): Promise<boolean> {
  const { rows } = await db.executeQuery(firstDue([]));
  return rows[0]!.isDue ?? false;
}

/** Queues what a worker that stops still works on. */
export async function queueJobsOf(db: Db, workerId: string): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ status: 'queued', worker_id: null })
    .where('worker_id', '=', workerId)
    .where('status', '=', 'active')
    .execute();
}

const selectForUpdate = prepared(
  'lock_attempt',
  "select id from jobs where id = $1 and attempt = $2 and status = 'active' for update",
);

/** Locks the job for the transaction; false when another attempt has it. */
export async function lockAttempt(tx: Tx, attempt: Attempt): Promise<boolean> {
  const { rows } = await tx.db.executeQuery(selectForUpdate([attempt.id, attempt.attempt]));
  return rows.length > 0;
}

export async function isAttemptOurs(db: Db, attempt: Attempt): Promise<boolean> {
  const held = await db.selectFrom('jobs').select('id').where(isOurs(attempt)).executeTakeFirst();
  return held !== undefined;
}

export async function setJobWaiting(db: Db, attempt: Attempt, isWaiting: boolean): Promise<void> {
  await db.updateTable('jobs').set({ waiting: isWaiting }).where(isOurs(attempt)).execute();
}

const deleteOurs = prepared(
  'delete_job',
  "delete from jobs where id = $1 and attempt = $2 and status = 'active'",
);

export async function deleteJob(db: Db, attempt: Attempt): Promise<void> {
  await db.executeQuery(deleteOurs([attempt.id, attempt.attempt]));
}

/** Queues the job again after a failed attempt. `leftBy`: the worker that leaves it to others. */
export async function retryJob(
  db: Db,
  attempt: Attempt,
  failure: { failures: number; error: unknown; delaySeconds: number; leftBy: string | null },
): Promise<void> {
  await db
    .updateTable('jobs')
    .set({
      status: 'queued',
      worker_id: null,
      left_by: failure.leftBy,
      failures: failure.failures,
      last_error: String(failure.error).slice(0, 2000),
      run_at: sql<Date>`now() + ${failure.delaySeconds} * interval '1 second'`,
    })
    .where(isOurs(attempt))
    .execute();
}

/** Queues the job again for later; false when another attempt has it. */
export async function putOffJob(
  tx: Tx,
  attempt: Attempt,
  { waitsFor, delaySeconds }: { waitsFor: string; delaySeconds: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('jobs')
    .set({
      status: 'queued',
      worker_id: null,
      waits_for: waitsFor,
      run_at: sql<Date>`now() + ${delaySeconds} * interval '1 second'`,
    })
    .where(isOurs(attempt))
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Makes the jobs due that were put off until this. */
export async function wakeWaiting(tx: Tx, waitsFor: string): Promise<void> {
  const { numUpdatedRows } = await tx.db
    .updateTable('jobs')
    .set({ run_at: sql<Date>`now()`, waits_for: null })
    .where('waits_for', '=', waitsFor)
    .where('status', '=', 'queued')
    .executeTakeFirstOrThrow();
  if (numUpdatedRows) tx.wake('jobs');
}

/** Makes the first jobs due that were put off until there is enough of something, as many as it is enough for. */
export async function wakeFirstWaiting(tx: Tx, waitsFor: string, most: number): Promise<void> {
  const { numAffectedRows } = await sql`
    update jobs set run_at = now(), waits_for = null where id in (
      select id from jobs where waits_for = ${waitsFor} and status = 'queued' order by id limit ${most} for update skip locked)`.execute(
    tx.db,
  );
  if (numAffectedRows) tx.wake('jobs');
}

/** Removes a job that no worker has begun. */
export async function withdrawJob(tx: Tx, id: number): Promise<void> {
  await tx.db.deleteFrom('jobs').where('id', '=', id).where('status', '=', 'queued').execute();
}

/** Makes queued jobs due that are not yet, and wakes a worker. `ids` is a query with one column. */
export async function makeJobsDue(tx: Tx, ids: RawBuilder<unknown>): Promise<void> {
  const { numAffectedRows } = await sql`
    update jobs set run_at = now() where id in (
      select id from jobs where status = 'queued' and run_at > now() and id in (${ids}) order by id for update skip locked)`.execute(
    tx.db,
  );
  if (numAffectedRows) tx.wake('jobs');
}
