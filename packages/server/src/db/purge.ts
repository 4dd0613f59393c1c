/**
 * Removing what belongs to deleted rows. Each room's store says how its own rows go; teardown/ calls them in
 * an order that foreign keys allow.
 */
import type { RawBuilder } from 'kysely';
import type { Db } from './database.ts';

/** Rows of one batch: a statement over more would hold their locks, and the disk, for long. */
const ROWS = 1_000;

/** Removes or empties at most `limit` rows of the threads or projects `ids`; returns how many. */
export type Purge = (db: Db, ids: readonly string[], limit: number) => Promise<number>;

/** How many rows a statement changed. */
export async function countChanged(db: Db, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await statement.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Repeats a purge until it finds no more. */
export async function purgeAll(
  { db, shutdown }: { db: Db; shutdown: AbortSignal },
  purge: Purge,
  ids: readonly string[],
): Promise<void> {
  for (let count = ROWS; count === ROWS && !shutdown.aborted;) count = await purge(db, ids, ROWS);
}
