/**
 * How many jobs are under way, by kind, organization and project, for the turns of claims (claim.ts). Triggers
 * on `jobs` (migration 0037) add a row for each begin and end, in the same transaction, so the sum of a turn's rows is
 * exact, and no claim waits for another's commit. Without sums the rows would grow in number for ever.
 */
import type { Db } from '../db/database.ts';
import { prepared } from '../db/prepared.ts';

// Rows that are added meanwhile stay. Two that sum at once sum each row once: the second finds it deleted.
const sumUp = prepared(
  'sum_busy_counts',
  `
    with turns as (
      select kind, fair_org, fair_key from busy_counts group by kind, fair_org, fair_key having count(*) > 1
    ), taken as (
      delete from busy_counts b using turns t where b.kind = t.kind and b.fair_org = t.fair_org and b.fair_key is not distinct from t.fair_key
      returning b.kind, b.fair_org, b.fair_key, b.change
    )
    insert into busy_counts (kind, fair_org, fair_key, change)
    select kind, fair_org, fair_key, sum(change) from taken group by kind, fair_org, fair_key having sum(change) <> 0`,
);

/** Replaces the rows of each turn by their sum. */
export async function sumBusyCounts(db: Db): Promise<void> {
  await db.executeQuery(sumUp([]));
}
