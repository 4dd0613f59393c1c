import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/**
 * A predicate on a table's column `status`. The statuses are literals: with parameters the planner could not
 * use the partial indexes of open rows.
 */
export const hasStatus = (table: string, statuses: readonly string[]): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(`${table}.status`)} in (${sql.join(statuses.map((status) => sql.lit(status)))})`;
