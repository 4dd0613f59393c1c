import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** Above so many rows stored bytes are not added up. */
const MOST_ROWS = 100_000;

interface Gauges {
  version: string;
  byte_size: number;
  connections: number;
  lag_ms: number;
  retained_from: Date | null;
  stored_bytes: number | null;
}

/** What the database and the log measure, in one statement of bounded cost. */
export async function readGauges(db: Db): Promise<Gauges> {
  const { rows } = await sql<Gauges>`
    select current_setting('server_version') as version, pg_database_size(current_database())::float8 as byte_size,
      (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
      coalesce((select greatest(0, extract(epoch from clock_timestamp() - occurred_at) * 1000)::float8 from outbox order by id limit 1), 0) as lag_ms,
      (select published_at from events order by sequence limit 1) as retained_from,
      case when (select sum(reltuples) from pg_class where oid in ('packs'::regclass, 'builds'::regclass)) <= ${MOST_ROWS}
        then (select coalesce(sum(byte_size), 0) from packs) + (select coalesce(sum(artifact_byte_size), 0) from builds) end::float8 as stored_bytes`.execute(
    db,
  );
  return rows[0]!;
}
