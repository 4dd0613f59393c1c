/**
 * The only writer of `sources`, `packs` and `blobs`.
 * `blobs` has a row for each content of a project, with the pack in which it is looked for.
 */
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import type { PacksTable, SourcesTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';

/** A source without its manifest, which `loadTree` reads. */
export type SourceRow = Omit<Selectable<SourcesTable>, 'manifest'>;
type AnyDb = Db | Tx['db'];

const SOURCE_COLUMNS = [
  'org_id',
  'id',
  'project_id',
  'thread_id',
  'run_id',
  'parent_source_ids',
  'origin',
  'sha256',
  'byte_size',
  'file_count',
  'message',
  'manifest_base',
  'manifest_depth',
  'commit_sha',
  'commit_branch',
  'kept_aside',
  'kept_aside_count',
  'created_at',
] as const;
const SHA_BYTES = 32;

/** A source of the project; 404 `source_not_found`. The project was loaded, and so authorized, before. */
export async function loadSource(db: AnyDb, projectId: string, sourceId: string): Promise<SourceRow> {
  const source = await db
    .selectFrom('sources')
    .select(SOURCE_COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', '=', sourceId)
    .executeTakeFirst();
  if (!source) throw notFound('source');
  return source;
}

/** The source of a commit, which a project has once. */
export async function findCommitSource(
  db: AnyDb,
  projectId: string,
  commitSha: string,
): Promise<SourceRow | undefined> {
  return db
    .selectFrom('sources')
    .select(SOURCE_COLUMNS)
    .where('project_id', '=', projectId)
    .where('commit_sha', '=', commitSha)
    .executeTakeFirst();
}

/** The commit of the project that was fetched last, with its files. */
export async function findNewestCommit(
  db: AnyDb,
  projectId: string,
): Promise<{ commitSha: string; manifest: Buffer } | undefined> {
  return (
    db
      .selectFrom('sources')
      .select(['commit_sha as commitSha', 'manifest'])
      .where('project_id', '=', projectId)
      .where('commit_sha', 'is not', null)
      // A delta alone says nothing.
      .where('manifest_base', 'is', null)
      .orderBy('id', 'desc')
      .limit(1)
      .$narrowType<{ commitSha: string }>()
      .executeTakeFirst()
  );
}

export async function insertSourceRow(tx: Tx, source: Insertable<SourcesTable>): Promise<SourceRow> {
  return tx.db.insertInto('sources').values(source).returning(SOURCE_COLUMNS).executeTakeFirstOrThrow();
}

/** Newest first, behind `after`. */
export async function findSources(
  db: AnyDb,
  projectId: string,
  after: string | null,
  limit: number,
): Promise<SourceRow[]> {
  let query = db.selectFrom('sources').select(SOURCE_COLUMNS).where('project_id', '=', projectId);
  if (after !== null) query = query.where('id', '<', after);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** How many deltas the source's manifest is away from a full one. */
export async function findManifestDepth(tx: Tx, projectId: string, sourceId: string): Promise<number> {
  const { manifest_depth: depth } = await tx.db
    .selectFrom('sources')
    .select('manifest_depth')
    .where('project_id', '=', projectId)
    .where('id', '=', sourceId)
    .executeTakeFirstOrThrow();
  return depth;
}

interface ManifestRow {
  id: string;
  manifest: Buffer;
  manifest_base: string | null;
}

/**
 * The source's manifest and those that it is a delta to, oldest first, down to a full one or one of
 * `known`.
 */
export async function findManifests(db: AnyDb, sourceId: string, known: string[]): Promise<ManifestRow[]> {
  const { rows } = await sql<ManifestRow>`
    with recursive chain as (
      select id, manifest, manifest_base, manifest_depth from sources where id = ${sourceId}
      union all
      select s.id, s.manifest, s.manifest_base, s.manifest_depth from chain c join sources s on s.id = c.manifest_base where c.manifest_base <> all(${known}::text[])
    ) select id, manifest, manifest_base from chain order by manifest_depth`.execute(db);
  return rows;
}

/**
 * Manifests of the project's sources, newest first, behind `after`, each as `decodeManifest` reads it: of a
 * delta only the files that changed.
 */
export async function findManifestsBefore(
  db: AnyDb,
  projectId: string,
  after: string | null,
  limit: number,
): Promise<Pick<ManifestRow, 'id' | 'manifest'>[]> {
  let query = db.selectFrom('sources').select(['id', 'manifest']).where('project_id', '=', projectId);
  if (after !== null) query = query.where('id', '<', after);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

// Hashes travel as one bytea, 32 bytes each: an array of 10,000 costs the driver 20 ms of escaping on the
// event loop.
const hashBytes = (sha256s: readonly string[]) => Buffer.from(sha256s.join(''), 'hex');
const hashList = (hex: string | null) =>
  Array.from({ length: (hex?.length ?? 0) / 64 }, (_, i) => hex!.slice(i * 64, i * 64 + 64));
const each = (hashes: Buffer) =>
  sql`(select substring(${hashes}::bytea from i * ${SHA_BYTES}::int + 1 for ${SHA_BYTES}::int) as sha256 from generate_series(0, ${hashes.length / SHA_BYTES - 1}::int) as i)`;

// By lookups in the index: with a join the planner, which knows nothing of 100,000 rows that were just
// written, read the table for each hash.
const oneOf = (hashes: Buffer) => sql`b.sha256 = any(array(select sha256 from ${each(hashes)} as h))`;

/** Which of these contents the project has. */
export async function findStored(
  db: AnyDb,
  projectId: string,
  sha256s: readonly string[],
): Promise<Set<string>> {
  if (sha256s.length === 0) return new Set();
  const {
    rows: [row],
  } = await sql<{ hex: string | null }>`
    select encode(string_agg(b.sha256, ''::bytea), 'hex') as hex from blobs b where b.project_id = ${projectId} and ${oneOf(hashBytes(sha256s))}`.execute(
    db,
  );
  return new Set(hashList(row!.hex));
}

/** The packs that hold these contents, with how many of them each holds, the fullest first. */
export async function findPacks(
  db: AnyDb,
  projectId: string,
  sha256s: readonly string[],
): Promise<{ id: string; sha256s: string[] }[]> {
  if (sha256s.length === 0) return [];
  const { rows } = await sql<{ id: string; hex: string }>`
    select b.pack_id as id, encode(string_agg(b.sha256, ''::bytea), 'hex') as hex from blobs b where b.project_id = ${projectId} and ${oneOf(hashBytes(sha256s))}
    group by b.pack_id order by count(*) desc`.execute(db);
  return rows.map(({ id, hex }) => ({ id, sha256s: hashList(hex) }));
}

/**
 * Rows of the pack's contents that the project does not have yet. Sorted, so that rivals wait for each
 * other instead of deadlocking.
 */
export async function insertBlobs(tx: Tx, projectId: string, packId: string, hashes: Buffer): Promise<void> {
  await sql`insert into blobs (project_id, sha256, pack_id) select ${projectId}, sha256, ${packId} from ${each(hashes)} as fresh order by sha256 on conflict do nothing`.execute(
    tx.db,
  );
}

/** Which of these contents are looked for in which of the packs: 32 bytes each, by pack. */
export async function findPlaced(
  db: AnyDb,
  projectId: string,
  packIds: readonly string[],
  hashes: Buffer,
): Promise<Map<string, Buffer>> {
  const { rows } = await sql<{ id: string; hashes: Buffer }>`
    select b.pack_id as id, string_agg(b.sha256, ''::bytea) as hashes from blobs b where b.project_id = ${projectId} and ${oneOf(hashes)} and b.pack_id = any(${packIds}::text[]) group by b.pack_id`.execute(
    db,
  );
  return new Map(rows.map((row) => [row.id, row.hashes]));
}

/**
 * Has these contents, as far as they are looked for in one of the packs `from`, looked for in the pack `to`.
 * Returns how many.
 */
export async function moveBlobs(
  tx: Tx,
  projectId: string,
  { from, to, hashes }: { from: readonly string[]; to: string; hashes: Buffer },
): Promise<number> {
  const { numAffectedRows } =
    await sql`update blobs b set pack_id = ${to} where b.project_id = ${projectId} and ${oneOf(hashes)} and b.pack_id = any(${from}::text[])`.execute(
      tx.db,
    );
  return Number(numAffectedRows ?? 0);
}

export async function insertPack(tx: Tx, pack: Insertable<PacksTable>): Promise<void> {
  await tx.db.insertInto('packs').values(pack).execute();
}

/** Where these packs lie, and their indexes; a pack that is gone is left out. */
export async function findPackObjects(
  db: AnyDb,
  ids: readonly string[],
): Promise<Pick<Selectable<PacksTable>, 'id' | 'object_key' | 'index'>[]> {
  return db.selectFrom('packs').select(['id', 'object_key', 'index']).where('id', 'in', ids).execute();
}

type SmallPack = Pick<Selectable<PacksTable>, 'id' | 'object_key' | 'byte_size' | 'index'>;

/** Which packs are small, how many a project must have, and how much of them is taken. */
interface SmallPackQuery {
  bytes: number;
  indexBytes: number;
  atLeast: number;
  most: { bytes: number; indexBytes: number; packs: number };
}

/** The smallest packs of the project, in order of their size; none where it has fewer than `atLeast`. */
export async function findSmallPacks(
  db: AnyDb,
  projectId: string,
  { bytes, indexBytes, atLeast, most }: SmallPackQuery,
): Promise<SmallPack[]> {
  const { rows } = await sql<SmallPack>`
    with small as (
      select id, object_key, byte_size, index, count(*) over () as count, sum(byte_size) over sized as bytes, sum(octet_length(index)) over sized as index_bytes
      from packs where project_id = ${projectId} and byte_size <= ${bytes} and octet_length(index) <= ${indexBytes} window sized as (order by byte_size, id)
    ) select id, object_key, byte_size, index from small where count >= ${atLeast} and bytes <= ${most.bytes} and index_bytes <= ${most.indexBytes} order by byte_size, id limit ${most.packs}`.execute(
    db,
  );
  return rows;
}

/** Locks these packs against rivals. Returns how many there still are. */
export async function lockPacks(tx: Tx, projectId: string, ids: readonly string[]): Promise<number> {
  const packs = await tx.db
    .selectFrom('packs')
    .select('id')
    .where('project_id', '=', projectId)
    .where('id', 'in', ids)
    .forUpdate()
    .execute();
  return packs.length;
}

export async function deletePacks(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.db.deleteFrom('packs').where('id', 'in', ids).execute();
}

/** Where the contents of deleted projects are looked for. */
export const purgeBlobs: Purge = (db, projectIds, limit) =>
  countChanged(
    db,
    sql`delete from blobs where ctid = any(array(select ctid from blobs where project_id = any(${projectIds}::text[]) limit ${limit}))`,
  );

/** The packs of deleted projects. */
export const purgePacks: Purge = (db, projectIds, limit) =>
  countChanged(
    db,
    sql`delete from packs where id in (select id from packs where project_id = any(${projectIds}::text[]) limit ${limit})`,
  );

/** The sources of deleted projects. */
export const purgeSources: Purge = (db, projectIds, limit) =>
  countChanged(
    db,
    sql`delete from sources where id in (select id from sources where project_id = any(${projectIds}::text[]) limit ${limit})`,
  );
