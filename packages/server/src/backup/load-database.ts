/** Loads the tables of a backup into a database that has none. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import pg from 'pg';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { markRestore, migrate, newestMigration, unmarkRestore } from '../db/migrate.ts';
import { makePartition, raiseGeneration } from '../events/index.ts';
import { quoted } from './dump-database.ts';
import { tableFile } from './manifest.ts';
import type { Manifest, TableDump } from './manifest.ts';

/**
 * Marks an empty database as one that a restore has not filled yet. Throws an error for the operator where it
 * has tables, or the backup is of a newer version.
 */
export async function claimDatabase(connection: pg.ClientConfig, manifest: Manifest): Promise<void> {
  if (manifest.schema > (await newestMigration()))
    throw new Error(
      `the backup is of a newer version, ${manifest.version}: restore it with that version or a newer one`,
    );
  await withClient(connection, async (client) => {
    const { rows } = await client.query<{ count: string }>(
      "select count(*) as count from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm')",
    );
    if (Number(rows[0]!.count) > 0) throw new Error('the database is not empty: restore into a new one');
    await markRestore(client);
  });
}

/**
 * In a database that is claimed: makes the schema that the backup has, loads all rows in one transaction, raises the log's generation, and
 * brings the schema to this version's. Returns the new generation.
 */
export async function loadDatabase(
  connection: pg.ClientConfig,
  folder: string,
  manifest: Manifest,
): Promise<number> {
  await migrate(connection, manifest.schema);
  const generation = await withClient(connection, async (client) => {
    await client.query('begin');
    const constraints = await dropForeignKeys(client);
    for (const name of manifest.partitions) await makePartition(client, name);
    await client.query(`truncate ${manifest.tables.map(({ name }) => quoted(name)).join()}`);
    for (const table of manifest.tables) await loadTable(client, folder, table);
    for (const { table, column, last } of manifest.identities)
      await client.query('select setval(pg_get_serial_sequence($1, $2), $3)', [table, column, last]);
    // Each checks the rows of its table.
    for (const { table, name, definition } of constraints)
      await client.query(`alter table ${table} add constraint ${quoted(name)} ${definition}`);
    // None of them runs on this database.
    await client.query('truncate processes');
    const raised = await raiseGeneration(client);
    await unmarkRestore(client);
    await client.query('commit');
    await client.query('analyze');
    return raised;
  });
  await migrate(connection);
  return generation;
}

/** Rows come table by table, and rows of some tables name each other. */
async function dropForeignKeys(
  client: Client,
): Promise<{ table: string; name: string; definition: string }[]> {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace and conparentid = 0`,
  );
  for (const { table, name } of rows)
    await client.query(`alter table ${table} drop constraint ${quoted(name)}`);
  return rows;
}

async function loadTable(
  client: Client,
  folder: string,
  { name, columns, rows, sha256 }: TableDump,
): Promise<void> {
  const hash = createHash('sha256');
  const target = client.query(copyFrom(`copy ${quoted(name)} (${columns.map(quoted).join()}) from stdin`));
  await pipeline(
    createReadStream(tableFile(folder, name)),
    new PassThrough().on('data', (part: Buffer) => hash.update(part)),
    createZstdDecompress(),
    target,
  );
  if (hash.digest('hex') !== sha256 || target.rowCount !== rows)
    throw new Error(`${tableFile(folder, name)} is damaged: it is not what the backup wrote`);
}

async function withClient<T>(connection: pg.ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
