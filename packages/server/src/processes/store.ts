import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { json } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { RunnerReport } from '../db/schema.ts';

interface SignOfLife {
  id: string;
  host: string;
  roles: string[];
  /** `unknown`: no runner answers, which changes nothing until the last answer is too old. */
  sandbox: 'works' | 'broken' | 'unknown';
  runner: RunnerReport | null;
}

/** Records the process, and forgets those that have been silent for an hour. Returns how many live. */
export async function recordProcess(db: Db, { sandbox, runner, ...process }: SignOfLife): Promise<number> {
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
