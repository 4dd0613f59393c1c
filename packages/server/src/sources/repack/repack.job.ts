/**
 * Repacking: when a project has many small packs, most of them become one, with the versions of a file side
 * by side in larger frames. No manifest changes, and a content is at every time in the pack that its row
 * names.
 *
 *   read the old packs → build, each content hashed → register the object → put → read back, each content
 *   hashed again
 *     → one transaction under the project's lock: contents move, the new pack is there, the old ones are not
 *     → the old objects go after a grace, for readers that still have the old index
 *
 * What is left by a process that ends in between is one uncommitted object, which cleanup.ts removes.
 * Whoever was faster, a rival or the project's deletion, is seen by the transaction. A damaged content ends
 * it with everything as it was.
 */
import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import { transaction } from '../../db/transaction.ts';
import type { Tx } from '../../db/transaction.ts';
import type { Job } from '../../jobs/job.ts';
import { ObjectNotFoundError } from '../../storage/object-store.ts';
import { owned } from '../buffers.ts';
import { commitPack } from '../insert-source.ts';
import { summarizeIndex } from '../../trees/pack.ts';
import { choosePacks, MANY_PACKS, MAX_PACK, MAX_REPACK, SOME_PACKS } from './plan.ts';
import { RepackDamage, runRepackThread } from './thread.ts';
import { abandon, stagePack } from '../stage.ts';
import type { ProjectKey, Staged } from '../stage.ts';
import { findManifestsBefore, findPlaced, moveBlobs } from '../store.ts';

export type Repacking = Pick<Context, 'db' | 'bus' | 'store' | 'log' | 'config'>;
type RepackJob = Pick<Job<'source.repack'>, 'payload' | 'fence' | 'signal'>;

interface Pack {
  id: string;
  object_key: string;
  index: Buffer;
  byteSize: number;
  rawBytes: number;
  /** Of all contents in it, 32 bytes each. */
  hashes: Buffer;
}

/** Of old packs' objects at least: a restore over a slow line still reads them. */
const GRACE_SECONDS = 300;
const SHA_BYTES = 32;
const MANIFESTS = 16;
/** Contents whose path is in none of so many bytes of manifests stay in the order that they have. */
const MANIFEST_BYTES = 32 * 1024 * 1024;

/** Repacks while many packs of the project fit together. Throws what is to be tried again. */
export async function repackProject(ctx: Repacking, job: RepackJob): Promise<void> {
  const { projectId } = job.payload;
  try {
    for (
      let isFirst = true;
      !job.signal.aborted && (await repackOnce(ctx, job, isFirst ? MANY_PACKS : SOME_PACKS));
      isFirst = false
    );
  } catch (error) {
    if (!(error instanceof RepackDamage) && !(error instanceof ObjectNotFoundError)) throw error;
    // Another attempt finds the same. The reconciler makes one when the project has a new pack.
    if (await isLive(ctx, projectId))
      ctx.log.error(
        { err: error, project: projectId },
        'packs were not merged: a stored content is damaged or missing; run `headrace storage verify`',
      );
  }
}

/**
 * Whether packs became one, so that it is worth to look again. Nothing is done for a project that has fewer
 * small packs than `many`.
 */
async function repackOnce(ctx: Repacking, job: RepackJob, many: number): Promise<boolean> {
  const { projectId } = job.payload;
  const project = await ctx.db
    .selectFrom('projects')
    .select(['org_id', 'id'])
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const packs = project ? await findCandidates(ctx, projectId, many) : [];
  if (!project || packs.length === 0) return false;
  const held = await findPlaced(
    ctx.db,
    projectId,
    packs.map((p) => p.id),
    Buffer.concat(packs.map((p) => p.hashes)),
  );
  const staged = await stage(
    ctx,
    job,
    project,
    packs.filter((p) => held.has(p.id)),
    held,
  );
  let isReplaced = false;
  try {
    const hashes = Buffer.concat([...held.values()]);
    if (staged) await check(ctx, job, staged, hashes);
    isReplaced = await transaction(ctx, (tx) => replace(tx, ctx, job, project, packs, staged, hashes));
  } finally {
    if (!isReplaced) await abandon(ctx, project, staged).catch(() => null);
  }
  if (isReplaced)
    ctx.log.info(
      {
        project: projectId,
        packs: packs.length,
        from: packs.reduce((sum, p) => sum + p.byteSize, 0),
        to: staged?.byteSize ?? 0,
      },
      'packs were merged',
    );
  return isReplaced;
}

/**
 * The packs that are to become one, or none: the smallest of the project, within the bounds of one
 * repacking.
 */
async function findCandidates({ db }: Repacking, projectId: string, many: number): Promise<Pack[]> {
  const { rows } = await sql<{ id: string; object_key: string; byte_size: number; index: Buffer }>`
    with small as (
      select id, object_key, byte_size, index, count(*) over () as count, sum(byte_size) over sized as bytes, sum(octet_length(index)) over sized as index_bytes
      from packs where project_id = ${projectId} and byte_size <= ${MAX_PACK.bytes} and octet_length(index) <= ${MAX_PACK.indexBytes} window sized as (order by byte_size, id)
    ) select id, object_key, byte_size, index from small where count >= ${many} and bytes <= ${MAX_REPACK.bytes} and index_bytes <= ${MAX_REPACK.indexBytes} order by byte_size, id limit ${MAX_REPACK.packs}`.execute(
    db,
  );
  return choosePacks(
    rows.map(({ byte_size: byteSize, ...row }) => ({ ...row, byteSize, ...summaryOf(row) })),
  );
}

function summaryOf({ id, index }: Pick<Pack, 'id' | 'index'>): Pick<Pack, 'hashes' | 'rawBytes'> {
  try {
    return summarizeIndex(index);
  } catch (error) {
    throw new RepackDamage(`the index of ${id} is damaged`, { cause: error });
  }
}

/** The new pack, put into the store; null where the old ones hold nothing that is looked for in them. */
async function stage(
  ctx: Repacking,
  { signal }: RepackJob,
  project: ProjectKey,
  packs: Pack[],
  held: ReadonlyMap<string, Buffer>,
): Promise<Staged> {
  if (packs.length === 0) return null;
  const old = [];
  for (const pack of packs) {
    signal.throwIfAborted();
    old.push({
      bytes: owned(await ctx.store.get(pack.object_key)),
      index: owned(pack.index),
      hashes: owned(held.get(pack.id)!),
    });
  }
  const packed = await runRepackThread(
    { operation: 'build', packs: old },
    old.map((p) => p.bytes.buffer),
    signal,
    manifestsOf(ctx, project.id),
  );
  return stagePack(ctx, project, packed!);
}

/** Newest first, a few at a time. */
function manifestsOf({ db }: Repacking, projectId: string): () => Promise<Uint8Array[]> {
  let [after, left]: [string | null, number] = [null, MANIFEST_BYTES];
  return async () => {
    const rows = left > 0 ? await findManifestsBefore(db, projectId, after, MANIFESTS) : [];
    after = rows.at(-1)?.id ?? after;
    left -= rows.reduce((sum, row) => sum + row.manifest.length, 0);
    return rows.map((row) => row.manifest);
  };
}

/** What the store gives back is hashed: from the commit on it is the only place of these contents. */
async function check(
  ctx: Repacking,
  { signal }: RepackJob,
  { objectKey, index }: NonNullable<Staged>,
  hashes: Buffer,
): Promise<void> {
  const bytes = owned(await ctx.store.get(objectKey));
  await runRepackThread(
    { operation: 'check', bytes, index: owned(index), hashes: owned(hashes) },
    [bytes.buffer],
    signal,
    async () => [],
  );
}

/**
 * False where the project was deleted or a rival was faster. Throws, and leaves everything as it was, where
 * not every content has a new place.
 */
async function replace(
  tx: Tx,
  { config }: Repacking,
  job: RepackJob,
  project: ProjectKey,
  packs: Pack[],
  staged: Staged,
  hashes: Buffer,
): Promise<boolean> {
  await job.fence(tx);
  const live = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', project.id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  const ids = packs.map((p) => p.id);
  const still = await tx.db
    .selectFrom('packs')
    .select('id')
    .where('project_id', '=', project.id)
    .where('id', 'in', ids)
    .forUpdate()
    .execute();
  if (!live || still.length < ids.length) return false;
  if (staged) {
    await commitPack(tx, project, staged);
    const moved = await moveBlobs(
      tx,
      project.id,
      ids,
      staged.packId,
      Buffer.concat(packs.map((p) => p.hashes)),
    );
    if (moved !== hashes.length / SHA_BYTES)
      throw new Error(
        `${moved} contents have a place in packs that were merged, not ${hashes.length / SHA_BYTES}`,
      );
  }
  await tx.db.deleteFrom('packs').where('id', 'in', ids).execute();
  await tx.db
    .updateTable('objects')
    .set({
      delete_after: sql<Date>`now() + ${Math.max(config.cleanupGraceSeconds, GRACE_SECONDS)} * interval '1 second'`,
    })
    .where(
      'key',
      'in',
      packs.map((p) => p.object_key),
    )
    .execute();
  return true;
}

async function isLive({ db }: Repacking, projectId: string): Promise<boolean> {
  return (
    (await db
      .selectFrom('projects')
      .select('id')
      .where('id', '=', projectId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()) !== undefined
  );
}
