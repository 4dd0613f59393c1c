import { sql } from 'kysely';
import { WORKER_START_LOCK } from '../db/advisory-locks.ts';
import type { Db } from '../db/database.ts';
import { json } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { RunnerReport } from '../db/schema.ts';

export interface SignOfLife {
  id: string;
  host: string;
  roles: string[];
  /** `unknown`: no runner answers, which changes nothing until the last answer is too old. */
  sandbox: 'works' | 'broken' | 'unknown';
  runner: RunnerReport | null;
}

/** Records the process, and forgets those that have been silent for an hour. Returns how many live. */
export async function recordProcess(
  db: Db | Tx['db'],
  { sandbox, runner, ...process }: SignOfLife,
): Promise<number> {
  const seenAt = sandbox === 'works' ? sql<Date>`now()` : null;
  const { others } = await db
    .with('silent', (q) =>
      q.deleteFrom('processes').where('last_seen_at', '<', sql<Date>`now() - interval '1 hour'`),
    )
    .insertInto('processes')
    .values({ ...process, sandbox_seen_at: seenAt, runner: runner && json(runner) })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({
        last_seen_at: sql<Date>`now()`,
        sandbox_seen_at: sandbox === 'unknown' ? sql<Date>`processes.sandbox_seen_at` : seenAt,
        runner: sql<RunnerReport>`excluded.runner`,
      }),
    )
    .returning(
      sql<number>`(select count(*) from processes p where p.id <> ${process.id} and p.last_seen_at > now() - interval '15 seconds')`.as(
        'others',
      ),
    )
    .executeTakeFirstOrThrow();
  return 1 + others;
}

/**
 * Records a worker that starts, unless one lives that cannot share jobs with it, whose host is returned: one of another
 * host's runner, or of the other kind (a fleet's has no runner of its own). Two that start at once are looked at one
 * after the other. Where a runner is not known, the name of the host counts.
 */
export async function recordFirst(db: Db, process: SignOfLife, isInFleet: boolean): Promise<string | null> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(WORKER_START_LOCK)})`.execute(tx);
    const own = process.runner?.id ?? null;
    const { rows } = await sql<{ host: string }>`
      select host from processes
      where 'worker' = any(roles) and last_seen_at > now() - interval '30 seconds' and case
        when ${isInFleet} then runner is not null
        when runner is null or ${own}::text is null then host <> ${process.host}
        else runner->>'id' <> ${own} end
      limit 1`.execute(tx);
    if (rows[0]) return rows[0].host;
    await recordProcess(tx, process);
    return null;
  });
}

export async function deleteProcess(db: Db, id: string): Promise<void> {
  await db.deleteFrom('processes').where('id', '=', id).execute();
}

/** Whether a worker other than that process could make sandboxes within the last 30 s. */
export async function isWorkerAlive(db: Db | Tx['db'], except: string | null): Promise<boolean> {
  const alive = await db
    .selectFrom('processes')
    .select('id')
    .where(sql<boolean>`'worker' = any(roles)`)
    .where('sandbox_seen_at', '>', sql<Date>`now() - interval '30 seconds'`)
    .where(sql<boolean>`id is distinct from ${except}`)
    .limit(1)
    .executeTakeFirst();
  return alive !== undefined;
}

/** Whether a worker has shown a sign of life within the last 30 s. */
export async function isWorkerSeen(db: Db | Tx['db']): Promise<boolean> {
  const seen = await db
    .selectFrom('processes')
    .select('id')
    .where(sql<boolean>`'worker' = any(roles)`)
    .where('last_seen_at', '>', sql<Date>`now() - interval '30 seconds'`)
    .limit(1)
    .executeTakeFirst();
  return seen !== undefined;
}

/** Whether a worker is registered, silent or not. */
export async function hasWorkers(db: Db | Tx['db']): Promise<boolean> {
  const known = await db
    .selectFrom('processes')
    .select('id')
    .where(sql<boolean>`'worker' = any(roles)`)
    .limit(1)
    .executeTakeFirst();
  return known !== undefined;
}
