/**
 * Pages of the lists over all apps, and of some that have Direct projects too. Each pair of a scope (an organization,
 * or one of several projects) and a status is a range of one index, in the list's order. A page merges the first rows
 * of each range, so it reads nothing that lies between its rows, however many rows this organization and others have.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from './database.ts';
import { idBytes, READ_FOR_A_PAGE } from './search.ts';

/** The owners of the rows in a list. */
export interface ListScope {
  column: 'org_id' | 'project_id';
  ids: readonly string[];
}

export interface Listed {
  table: 'threads' | 'applies' | 'builds' | 'previews';
  scope: ListScope;
  statuses: readonly string[];
  /** By `updated_at` and `id` instead of `id` alone; only for threads. */
  byActivity?: boolean;
  /** True: rows of apps, which are all there are if it is omitted. False: those of Direct projects. */
  listed?: readonly boolean[];
  /** A further condition on the rows. */
  filter?: RawBuilder<boolean> | undefined;
  /** The condition of a search, which no index covers. */
  matches?: RawBuilder<boolean> | undefined;
}

/** A search reads at least this many rows of each range for a page. */
const LEAST_OF_A_RANGE = 500;

/** The position of a row in its list, as cursors keep it. */
export const placeOf = ({ byActivity }: Listed, row: { id: string; updated_at: Date }): string =>
  byActivity ? `${row.updated_at.toISOString()} ${row.id}` : row.id;

/** Rows of a list after the position `after`, up to the position `to`. */
interface Part {
  after: string | null;
  to: string | null;
}

/** Selects the ids of the first `limit` rows of a part of a list. */
export const selectListed = (listed: Listed, part: Part, limit: number): RawBuilder<{ id: string }> =>
  merged(listed, part, { limit, offset: 0 });

/** The position up to which a search reads for its page after `after`; null if that is the list's end. */
export async function endOfListedSearch(
  db: Db,
  listed: Listed,
  after: string | null,
): Promise<string | null> {
  const { ids } = listed.scope;
  const most = Math.max(LEAST_OF_A_RANGE, Math.floor(READ_FOR_A_PAGE / Math.max(1, ids.length)));
  // The last row of each range that may be read. The newest of them ends the search in all ranges.
  const lasts = merged(
    { ...listed, matches: undefined },
    { after, to: null },
    { limit: 1, offset: most - 1 },
  );
  const { rows } = await (lasts as RawBuilder<{ id: string; updated_at: Date }>).execute(db);
  return rows[0] ? placeOf(listed, rows[0]) : null;
}

function merged(
  listed: Listed,
  { after, to }: Part,
  { limit, offset }: { limit: number; offset: number },
): RawBuilder<{ id: string }> {
  const { table, scope, statuses, byActivity, filter, matches } = listed;
  const id = idBytes('id');
  const key = byActivity ? sql`(updated_at, ${id})` : id;
  const order = byActivity ? sql`updated_at desc, ${id} desc` : sql`${id} desc`;
  const conditions = [
    sql`${sql.ref(scope.column)} = one_of and status = one_status`,
    ...(table === 'threads' ? [sql`deleted_at is null`] : []),
    ...(after === null ? [] : [sql`${key} < ${valueOf(listed, after)}`]),
    ...(to === null ? [] : [sql`${key} >= ${valueOf(listed, to)}`]),
    ...(filter ? [filter] : []),
    ...(matches ? [matches] : []),
  ];
  // As words, not values: each has indexes of its own.
  const ranges = (listed.listed ?? [true]).map(
    (isListed) => sql`(select id${byActivity ? sql`, updated_at` : sql``} from ${sql.table(table)}
      where ${isListed ? sql`listed` : sql`not listed`} and ${sql.join(conditions, sql` and `)}
      order by ${order} limit ${limit} offset ${offset})`,
  );
  return sql`select part.* from unnest(${scope.ids}::text[]) as one_of cross join unnest(${statuses}::text[]) as one_status
    cross join lateral (${sql.join(ranges, sql` union all `)}) as part
    order by ${order} limit ${limit}`;
}

function valueOf({ byActivity }: Listed, place: string): RawBuilder<unknown> {
  if (!byActivity) return sql`${place}`;
  const [time, id] = place.split(' ');
  return sql`(${time}::timestamptz, ${id})`;
}
