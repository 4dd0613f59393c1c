/** Forward-only SQL migrations under a lock. The process refuses a schema newer than itself. */
import { readdir, readFile } from 'node:fs/promises';
import type { PoolConfig } from 'pg';
import pg from 'pg';
import { MIGRATION_LOCK } from './advisory-locks.ts';
import { unreachable } from './faults.ts';

/** A host that drops packets says nothing. */
const CONNECT_MS = 10_000;
const FOLDER = new URL('./migrations/', import.meta.url);

/**
 * Brings the database to this version's schema, or, for a restore, to that of an older one: `to` is its newest
 * migration. Throws when it is newer than this version, or older than
 * PostgreSQL 15.
 */
export async function migrate(connection: PoolConfig, to = Infinity): Promise<void> {
  const files = await migrationFiles();
  const client = new pg.Client({ connectionTimeoutMillis: CONNECT_MS, ...connection });
  // What breaks fails the statement under way or the next one.
  client.on('error', () => {});
  await client.connect().catch((cause: unknown) => {
    throw connection.connectionString === undefined ? cause : unreachable(connection.connectionString, cause);
  });
  try {
    const {
      rows: [server],
    } = await client.query<{ version: number }>(
      "select current_setting('server_version_num')::int as version",
    );
    if (server!.version < 150_000) throw new Error('PostgreSQL 15 or newer is required');
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    if (to === Infinity) await requireNoRestore(client);
    await client.query(
      'create table if not exists schema_migrations (number integer primary key, name text not null, applied_at timestamptz not null default now())',
    );
    const { rows } = await client.query<{ number: number }>('select number from schema_migrations');
    const applied = new Set(rows.map((r) => r.number));
    const newest = Number(files.at(-1)!.slice(0, 4));
    if ([...applied].some((number) => number > newest))
      throw new Error(
        'The database was written by a newer version of Headrace. Start that version, or restore a backup made by this one.',
      );
    for (const name of files) {
      const number = Number(name.slice(0, 4));
      if (applied.has(number) || number > to) continue;
      const sql = await readFile(new URL(name, FOLDER), 'utf8');
      await client.query('begin');
      await client.query(sql);
      await client.query('insert into schema_migrations (number, name) values ($1, $2)', [number, name]);
      await client.query('commit');
    }
  } finally {
    await client.end();
  }
}

const migrationFiles = async () =>
  (await readdir(FOLDER)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort();

/** The newest migration that this version knows. */
export const newestMigration = async () => Number((await migrationFiles()).at(-1)!.slice(0, 4));

const MARK = 'restore_under_way';

/** Marks the database as one that a restore has not filled yet: no service starts on it. */
export const markRestore = (client: pg.Client) => client.query(`create table ${MARK} ()`);
/** In the transaction that fills it. */
export const unmarkRestore = (client: pg.Client) => client.query(`drop table ${MARK}`);

async function requireNoRestore(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ marked: boolean }>('select to_regclass($1) is not null as marked', [
    MARK,
  ]);
  if (rows[0]!.marked)
    throw new Error('A restore into this database did not end: restore into an empty one.');
}
