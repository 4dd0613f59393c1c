/** Copies all tables in one snapshot, while the service writes on. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import type { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { tableFile } from './manifest.ts';
import type { Manifest, TableDump } from './manifest.ts';

type Dump = Pick<Manifest, 'schema' | 'point' | 'tables' | 'partitions' | 'identities'>;

/** A lock on all tables waits this long for a migration or for the end of a day of the log. */
const LOCK_LIMIT = '60s';

/** Logged tables but their parts; the migrations are the schema's own, and loading jobs counts those under way. */
const TABLES = `
  select c.oid, c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relpersistence = 'p' and c.relname not in ('schema_migrations', 'busy_counts')
    and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  group by c.oid, c.relname order by c.relname`;

const IDENTITIES = `
  select c.relname as table, a.attname as column, pg_get_serial_sequence(c.relname, a.attname) as sequence
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = current_schema()::regnamespace and a.attidentity <> '' and not c.relispartition`;

const PARTITIONS = `
  select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'events'::regclass and c.relname ~ '^events_\\d{8}$' order by 1`;

/** Objects that rows of the snapshot name; those that are due to be deleted may be gone already. */
const KEYS = `
  select key, committed_at is not null and (delete_after is null or delete_after > now()) as needed from objects`;

/** Repositories whose folders are this service's. */
const REPOSITORIES = `
  select id, default_branch as "defaultBranch" from repositories where provider = 'local' and deleted_at is null order by id`;

export interface StoredKey {
  key: string;
  needed: boolean;
}

/** What the snapshot names outside of the database. */
export interface Named {
  keys: StoredKey[];
  repositories: NonNullable<Manifest['repositories']>['copied'];
}

/**
 * Writes the tables into the folder, and says what the snapshot names. Every transaction that was committed
 * before the snapshot is in it, whole.
 */
export async function dumpDatabase(client: Client, folder: string): Promise<{ dump: Dump; named: Named }> {
  await mkdir(join(folder, 'tables'), { mode: 0o700 });
  await client.query(`set lock_timeout = '${LOCK_LIMIT}'`);
  await client.query('begin isolation level repeatable read read only');
  const tables = (await client.query<{ name: string; columns: string[] }>(TABLES)).rows;
  const { rows: partitions } = await client.query<{ name: string }>(PARTITIONS);
  // Nothing is dropped, or altered, from here on.
  await client.query(`lock table ${tables.map(({ name }) => quoted(name)).join()} in access share mode`);
  const point = await readPoint(client);
  const named: Named = {
    keys: (await client.query<StoredKey>(KEYS)).rows,
    repositories: (await client.query<Named['repositories'][number]>(REPOSITORIES)).rows,
  };
  const dumps: TableDump[] = [];
  for (const table of tables) dumps.push(await dumpTable(client, folder, table));
  const identities = await readIdentities(client);
  const { rows: migrations } = await client.query<{ newest: number }>(
    'select max(number) as newest from schema_migrations',
  );
  await client.query('commit');
  const dump = {
    schema: migrations[0]!.newest,
    point,
    tables: dumps,
    partitions: partitions.map(({ name }) => name),
    identities,
  };
  return { dump, named };
}

export const quoted = (name: string) => `"${name}"`;

async function readPoint(client: Client): Promise<Manifest['point']> {
  const { rows } = await client.query<{ at: Date; sequence: string; generation: string }>(
    'select now() as at, last_sequence as sequence, generation from log_state',
  );
  const { at, sequence, generation } = rows[0]!;
  return { at: at.toISOString(), sequence: Number(sequence), generation: Number(generation) };
}

async function dumpTable(
  client: Client,
  folder: string,
  { name, columns }: { name: string; columns: string[] },
): Promise<TableDump> {
  const hash = createHash('sha256');
  const hashed = new PassThrough().on('data', (part: Buffer) => hash.update(part));
  const source = client.query(
    copyTo(`copy (select ${columns.map(quoted).join()} from ${quoted(name)}) to stdout`),
  );
  await pipeline(
    source,
    createZstdCompress(),
    hashed,
    createWriteStream(tableFile(folder, name), { flags: 'wx', mode: 0o600, flush: true }),
  );
  return { name, columns, rows: source.rowCount, sha256: hash.digest('hex') };
}

/** Sequences are in no snapshot: what they gave by now is at least what the rows have. */
async function readIdentities(client: Client): Promise<Manifest['identities']> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(IDENTITIES);
  const found: Manifest['identities'] = [];
  for (const { table, column, sequence } of rows) {
    const { rows: values } = await client.query<{ last: string; called: boolean }>(
      `select last_value as last, is_called as called from ${sequence}`,
    );
    if (values[0]!.called) found.push({ table, column, last: Number(values[0]!.last) });
  }
  return found;
}
