/**
 * Removes stored objects that nothing refers to any more: those of deleted projects after the grace, packs
 * that were merged after theirs, those of interrupted uploads after an hour, and what interrupted puts left
 * in the store. It reconciles from state, safe in several processes at once. `objects.ts` lists the states of
 * an object.
 */
import type { Context } from '../context.ts';
import { DELETION_LOCK } from '../db/advisory-locks.ts';
import { withSessionLock } from '../db/session-lock.ts';
import { claimExpired, expireInterrupted, expireLeft, forgetObject, registerExpired } from './objects.ts';

const UPLOAD_SECONDS = 3600;
const BATCH = 100;

type Cleaning = Pick<Context, 'db' | 'directConnection' | 'store' | 'log' | 'config' | 'shutdown'>;

/** One round: removes all that is due now. */
export async function cleanUpObjects(ctx: Cleaning): Promise<void> {
  await expireInterrupted(ctx.db, Math.min(UPLOAD_SECONDS, ctx.config.cleanupGraceSeconds));
  // A store that refuses gets no further batch in this round.
  while (!ctx.shutdown.aborted && (await deleteObjects(ctx)) === BATCH);
  await ctx.store.sweep();
}

/** Deletes one batch; returns how many are gone: none while a backup copies objects. */
async function deleteObjects(ctx: Cleaning): Promise<number> {
  const lock = { connection: ctx.directConnection, key: DELETION_LOCK, isShared: true };
  const deleted = await withSessionLock(lock, async () => {
    let count = 0;
    for (const { key, attempts } of await claimExpired(ctx.db, BATCH))
      if (await deleteObject(ctx, key, attempts)) count++;
    return count;
  });
  return deleted ?? 0;
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

/**
 * The deletion of a project expires its objects. Objects that were registered after it go too, and those
 * that the store has without a registration: after a restored database, or a put that outlasted its own.
 */
export async function expireRest(
  { db, store }: Pick<Cleaning, 'db' | 'store'>,
  projectId: string,
  orgId: string,
): Promise<void> {
  await expireLeft(db, projectId);
  for await (const { key } of store.list(`projects/${projectId}/`))
    await registerExpired(db, { org_id: orgId, project_id: projectId, key });
}

/** The same for objects of a whole organization, whose projects are deleted each for itself. */
export async function expireRestOfOrganization(
  { db, store }: Pick<Cleaning, 'db' | 'store'>,
  orgId: string,
): Promise<void> {
  for await (const { key } of store.list(`organizations/${orgId}/`))
    await registerExpired(db, { org_id: orgId, project_id: null, key });
}
