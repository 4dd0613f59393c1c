/**
 * The job queue of this checkout, and that of another one to compare it with (`JOBS_FORMER=<its folder>`), each on a
 * database of its own of one PostgreSQL.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import pino from 'pino';
import { startEmbeddedPostgres } from '../../../packages/server/src/db/embedded/index.ts';
import type { DatabaseHandle } from '../../../packages/server/src/db/database.ts';
import type { Setup } from './benchmark.ts';

const HERE = join(import.meta.dirname, '../../..');

export interface JobVersion {
  name: 'now' | 'before';
  connection: { host: string; port: number; user: string; database: string };
  /** A module of `packages/server/src`. */
  load<Module>(path: string): Promise<Module>;
}

export interface JobServer {
  versions: JobVersion[];
  postmaster: number;
}

export const quietLog = pino({ level: 'silent' });

export async function startJobServer(setup: Setup): Promise<JobServer> {
  const dataDir = mkdtempSync(join(setup.scratch, 'database-'));
  const server = await startEmbeddedPostgres({
    dataDir,
    log: { info() {}, warn() {}, error() {} },
    settings: { max_connections: '1000' },
  });
  setup.atEnd(() => server.stop());
  const former = process.env['JOBS_FORMER'];
  const versions: JobVersion[] = [];
  for (const [name, root] of [
    ['now', HERE],
    ...(former ? [['before', resolve(former)] as const] : []),
  ] as const) {
    await onServer(server.connection, `create database jobs_${name}`);
    const load = <Module>(path: string) => import(join(root, 'packages/server/src', path)) as Promise<Module>;
    const connection = { ...server.connection, database: `jobs_${name}` };
    await (
      await load<typeof import('../../../packages/server/src/db/migrate.ts')>('db/migrate.ts')
    ).migrate(connection);
    versions.push({ name, connection, load });
  }
  return {
    versions,
    postmaster: Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]),
  };
}

export async function onServer(
  connection: pg.ClientConfig,
  text: string,
  values: unknown[] = [],
): Promise<pg.QueryResult<{ n: string }>> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return await client.query(text, values);
  } finally {
    await client.end();
  }
}

type Loaded = Pick<JobVersion, 'connection' | 'load'>;

/** Null where the version counts active jobs at each claim. */
export const busyCountsOf = ({ load }: Pick<JobVersion, 'load'>) =>
  load<typeof import('../../../packages/server/src/jobs/busy-counts.ts')>('jobs/busy-counts.ts').catch(
    () => null,
  );

/** Two connections, or `settings.max`. */
export async function openHandle(
  { connection, load }: Loaded,
  { max = 2, ...settings }: pg.PoolConfig,
): Promise<DatabaseHandle> {
  const { openDatabase } = await load<{
    openDatabase(connection: pg.PoolConfig, max: unknown): DatabaseHandle;
  }>('db/database.ts');
  // Of an older version `max` is the number itself; what is no number there is 24.
  return openDatabase({ ...connection, ...settings }, { max, valueOf: () => max });
}

export const numberOf = async (connection: pg.ClientConfig, text: string): Promise<number> =>
  Number((await onServer(connection, text)).rows[0]!.n);

/** Active jobs of 50 organizations and 500 projects, in place of those that are there; of the workers that are there. */
export async function fillJobs({ connection, load }: Loaded, active: number): Promise<void> {
  await onServer(connection, 'delete from jobs');
  await onServer(
    connection,
    `with w as (select id, row_number() over () - 1 as n, count(*) over () as count from workers)
     insert into jobs (kind, payload, key, fair_org, fair_key, status, attempt, worker_id, claimed_at)
     select (array['run.work', 'build.work', 'preview.work', 'exec.work'])[1 + n % 4], '{}', 'active:' || n, 'org_' || n % 50, 'prj_' || n % 500,
       'active', 1, coalesce((select id from w where w.n = g.n % w.count), 'wrk_' || n % 100), now() + interval '1 hour' from generate_series(1, $1::int) as g (n)`,
    [active],
  );
  const keeper = await busyCountsOf({ load });
  if (keeper) {
    const handle = await openHandle({ connection, load }, {});
    await keeper.sumBusyCounts(handle.db);
    await handle.close();
  }
  await onServer(connection, 'vacuum analyze');
}
