/** The external database, as the service reaches it. */
import type { Config } from '@headrace/server/config.ts';
import { connectionsOf } from '@headrace/server/db/connections.ts';
import { openDatabase } from '@headrace/server/db/database.ts';
import { lasting } from '../terminal/times.ts';
import type { Finding } from './findings.ts';

/** Ids have the database's time; sign-ins and signatures have this machine's. */
const CLOCK_MS = 30_000;

interface Said {
  version: string;
  now: number;
  /** Those that this user may see. */
  standbys: number;
  synchronous: number;
  most: number;
}

/** Throws what the service would end with at its start. */
export async function examineDatabase({
  databaseUrl,
  databaseDirectUrl,
}: Pick<Config, 'databaseUrl' | 'databaseDirectUrl'>): Promise<Omit<Finding, 'name'>> {
  if (databaseUrl === null)
    return { ok: true, detail: 'the embedded one, which the service starts', warnings: [] };
  const { direct, warnings } = await connectionsOf({ databaseUrl, databaseDirectUrl });
  const { pool, close } = openDatabase(direct, { max: 1 });
  try {
    const { rows } = await pool.query<Said>(`
      select current_setting('server_version') as version, (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
        (select count(*)::int from pg_stat_replication where state is not null) as standbys,
        (select count(*)::int from pg_stat_replication where sync_state in ('sync', 'quorum')) as synchronous,
        current_setting('max_connections')::int as most`);
    const { version, now, standbys, synchronous, most } = rows[0]!;
    const apartMs = Math.abs(now - Date.now());
    return {
      ok: true,
      detail: `PostgreSQL ${version}, ${standbys} standbys, ${synchronous} of them synchronous, at most ${most} connections${databaseDirectUrl === null ? '' : '; a direct address beside the pooled one'}`,
      warnings: [
        ...warnings,
        ...(standbys > 0 && synchronous === 0
          ? ['no standby is synchronous: a failover can lose writes that were answered']
          : []),
        ...(apartMs > CLOCK_MS
          ? [`its clock and this machine's are ${lasting(apartMs)} apart: set both by NTP`]
          : []),
      ],
    };
  } finally {
    await close();
  }
}
