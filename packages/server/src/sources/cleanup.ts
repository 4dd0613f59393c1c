/**
 * Removes what nothing refers to any more: objects of deleted projects after the grace, packs that were
 * merged after theirs, objects of interrupted uploads after an hour, what interrupted puts left in the
 * store, and the metadata of deleted projects: the only place that deletes rows of other domains. It
 * reconciles from state, safe in several processes at once. `objects.ts` lists the states of an object.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { DELETION_LOCK } from '../db/advisory-locks.ts';
import type { Db } from '../db/database.ts';
import { every } from '../jobs/every.ts';
import type { Loop } from '../jobs/every.ts';
import { claimExpired, expireInterrupted, expireLeft, forgetObject, registerExpired } from './objects.ts';

const UPLOAD_SECONDS = 3600;
const BATCH = 100;
const ROWS = 5_000;

type Cleaning = Pick<Context, 'db' | 'store' | 'log' | 'config' | 'shutdown'>;

/** Starts the loop: every minute, more often where the grace is short. */
export function startCleanup(ctx: Cleaning): Loop {
  const everyMs = Math.min(60_000, Math.max(1_000, (ctx.config.cleanupGraceSeconds * 1000) / 4));
  return every(everyMs, () => cleanUp(ctx), {
    onFailure: (err) => ctx.log.warn({ err }, 'cleanup of stored objects failed; it is tried again'),
  });
}

/** One round: removes all that is due now. */
export async function cleanUp(ctx: Cleaning): Promise<void> {
  await expireInterrupted(ctx.db, Math.min(UPLOAD_SECONDS, ctx.config.cleanupGraceSeconds));
  // A store that refuses gets no further batch in this round.
  while (!ctx.shutdown.aborted && (await deleteObjects(ctx)) === BATCH);
  await forgetProjects(ctx);
  await ctx.store.sweep();
}

/** Deletes one batch; returns how many are gone: none while a backup copies objects. */
async function deleteObjects(ctx: Cleaning): Promise<number> {
  return ctx.db.connection().execute(async (db) => {
    if (!(await tryShareDeletion(db))) return 0;
    try {
      let deleted = 0;
      for (const { key, attempts } of await claimExpired(db, BATCH))
        if (await deleteObject({ ...ctx, db }, key, attempts)) deleted++;
      return deleted;
    } finally {
      await sql`select pg_advisory_unlock_shared(${DELETION_LOCK})`.execute(db);
    }
  });
}

/** On a connection, whose end frees the lock. */
async function tryShareDeletion(db: Db): Promise<boolean> {
  const { rows } = await sql<{
    held: boolean;
  }>`select pg_try_advisory_lock_shared(${DELETION_LOCK}) as held`.execute(db);
  return rows[0]!.held;
}

async function deleteObject({ db, store, log }: Cleaning, key: string, attempts: number): Promise<boolean> {
  try {
    await store.delete(key);
  } catch (err) {
    log.warn({ err, attempts }, 'a stored object could not be deleted; it is tried again');
    return false;
  }
  await forgetObject(db, key);
  return true;
}

/** After the grace, so that work in a project that is deleted under it ends in peace. */
async function forgetProjects(ctx: Cleaning): Promise<void> {
  const { rows } = await sql<{ id: string; org_id: string }>`
    select p.id, p.org_id from projects p where p.deleted_at <= now() - ${ctx.config.cleanupGraceSeconds}::int * interval '1 second'
    and (exists (select from sources s where s.project_id = p.id) or exists (select from builds b where b.project_id = p.id)
      or exists (select from execs e where e.project_id = p.id and e.status in ('completed', 'failed'))) limit ${BATCH}`.execute(
    ctx.db,
  );
  for (const { id, org_id: orgId } of rows) {
    await expireRest(ctx, id, orgId);
    // A command that has not ended settles its receipt first.
    await deleteRows(ctx, 'execs', id, sql`status in ('completed', 'failed')`);
    for (const table of ['blobs', 'packs', 'head_history', 'builds', 'sources'] as const)
      await deleteRows(ctx, table, id);
  }
}

/**
 * The deletion of a project expires its objects. Objects that were registered after it go too, and those
 * that the store has without a registration: after a restored database, or a put that outlasted its own.
 */
async function expireRest({ db, store }: Cleaning, projectId: string, orgId: string): Promise<void> {
  await expireLeft(db, projectId);
  for await (const { key } of store.list(`projects/${projectId}/`))
    await registerExpired(db, { org_id: orgId, project_id: projectId, key });
}

/**
 * In batches: one statement for all rows of a project would hold their locks, and the disk, for long. Sources
 * are last: as long as there are any, the project is found again.
 */
async function deleteRows(
  { db, shutdown }: Cleaning,
  table: string,
  projectId: string,
  which = sql`true`,
): Promise<void> {
  for (let count = ROWS; count === ROWS && !shutdown.aborted;) {
    const { numAffectedRows } =
      await sql`delete from ${sql.table(table)} where ctid = any(array(select ctid from ${sql.table(table)} where project_id = ${projectId} and ${which} limit ${ROWS}))`.execute(
        db,
      );
    count = Number(numAffectedRows ?? 0);
  }
}
