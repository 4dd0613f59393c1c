import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Tx } from '../db/transaction.ts';
import { tooManyOpen } from '../http/errors.ts';

/** What is refused beyond the operator's bound, as its caller waits for it: it does not queue. */
const KINDS = {
  execs: { table: sql.table('execs'), open: sql`status in ('queued', 'running')`, name: 'commands' },
  previews: { table: sql.table('previews'), open: sql`status in ('starting', 'ready')`, name: 'previews' },
};

/**
 * Throws 429 `rate_limited` where the organization has as many open as the operator lets it have. Its lock is
 * the last one before the new row: two that count at once would both take the last place.
 */
export async function requirePlace(
  tx: Tx,
  { config }: Pick<Context, 'config'>,
  kind: keyof typeof KINDS,
  orgId: string,
): Promise<void> {
  const bound = config.organizationBounds[kind];
  if (bound === null) return;
  const { table, open, name } = KINDS[kind];
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${kind} of ${orgId}`}, 0))`.execute(tx.db);
  const { rows } = await sql<{
    count: number;
  }>`select count(*) as count from ${table} where org_id = ${orgId} and ${open}`.execute(tx.db);
  if (rows[0]!.count >= bound) throw tooManyOpen(bound, name);
}
