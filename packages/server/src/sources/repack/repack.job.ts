/**
 * Repacking: when a project has many small packs, most of them become one, with the versions of a file side
 * by side in larger frames. No manifest changes, and a content is always in the pack that its row names.
 *
 *   read the old packs → build, each content hashed → register the object → put → read back, each content
 *   hashed again
 *     → one transaction under the project's lock: contents move, the new pack is there, the old ones are not
 *     → the old objects go after a grace, for readers that still have the old index
 *
 * A process that ends in between leaves one uncommitted object, which cleanup.ts removes. The transaction
 * notices a rival or the project's deletion that was faster. A damaged content ends the job and changes
 * nothing.
 */
import type { Context } from '../../context.ts';
import { transaction } from '../../db/transaction.ts';
import type { Tx } from '../../db/transaction.ts';
import type { Job } from '../../jobs/job.ts';
import { ObjectNotFoundError } from '../../storage/object-store.ts';
import { owned } from '../../buffers.ts';
import { commitPack } from '../insert-source.ts';
import { summarizeIndex } from '../../trees/pack.ts';
import { choosePacks, MANY_PACKS, MAX_PACK, MAX_REPACK, SOME_PACKS } from './plan.ts';
import { RepackDamage, runRepackThread } from './thread.ts';
import { abandon, stagePack } from '../stage.ts';
import type { ProjectKey, Staged } from '../stage.ts';
import { expireReplaced } from '../objects.ts';
import {
  deletePacks,
  findManifestsBefore,
  findPlaced,
  findSmallPacks,
  lockPacks,
  moveBlobs,
} from '../store.ts';

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

/** One repacking of a project. */
interface Work {
  ctx: Repacking;
  job: RepackJob;
  project: ProjectKey;
  packs: Pack[];
  /** Of the contents that are looked for in the packs, 32 bytes each, by pack. */
  placed: ReadonlyMap<string, Buffer>;
}

/** The shortest grace of old packs' objects: a restore over a slow line still reads them. */
const GRACE_SECONDS = 300;
const SHA_BYTES = 32;
const MANIFESTS = 16;
/** Contents whose path is in none of the first 32 MiB of manifests keep their order. */
const MANIFEST_BYTES = 32 * 1024 * 1024;

/** Repacks while many packs of the project fit together. Throws what is worth another attempt. */
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
 * Makes one pack of the smallest ones. True where it did, so that another look is worth it; false for a
 * project that has fewer than `many` small packs.
 */
async function repackOnce(ctx: Repacking, job: RepackJob, many: number): Promise<boolean> {
  const project = await ctx.db
    .selectFrom('projects')
    .select(['org_id', 'id'])
    .where('id', '=', job.payload.projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const packs = project ? await findCandidates(ctx, project.id, many) : [];
  if (!project || packs.length === 0) return false;
  const placed = await findPlaced(
    ctx.db,
    project.id,
    packs.map((p) => p.id),
    Buffer.concat(packs.map((p) => p.hashes)),
  );
  const work: Work = { ctx, job, project, packs, placed };
  const staged = await stageMerged(work);
  let isReplaced = false;
  try {
    if (staged) await checkStored(work, staged);
    isReplaced = await transaction(ctx, (tx) => replacePacks(tx, work, staged));
  } finally {
    if (!isReplaced) await abandon(ctx, project, staged).catch(() => null);
  }
  if (isReplaced) logMerged(work, staged);
  return isReplaced;
}

function logMerged({ ctx, project, packs }: Work, staged: Staged): void {
  ctx.log.info(
    {
      project: project.id,
      packs: packs.length,
      from: packs.reduce((sum, p) => sum + p.byteSize, 0),
      to: staged?.byteSize ?? 0,
    },
    'packs were merged',
  );
}

/**
 * The packs that are to become one, or none: the smallest of the project, within the bounds of one
 * repacking.
 */
async function findCandidates({ db }: Repacking, projectId: string, many: number): Promise<Pack[]> {
  const rows = await findSmallPacks(db, projectId, { ...MAX_PACK, atLeast: many, most: MAX_REPACK });
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

/** Builds the new pack and puts it into the store; null where no content is looked for in the old ones. */
async function stageMerged({ ctx, job, project, packs, placed }: Work): Promise<Staged> {
  const old = [];
  for (const pack of packs) {
    const hashes = placed.get(pack.id);
    if (!hashes) continue;
    job.signal.throwIfAborted();
    old.push({
      bytes: owned(await ctx.store.get(pack.object_key)),
      index: owned(pack.index),
      hashes: owned(hashes),
    });
  }
  if (old.length === 0) return null;
  const packed = await runRepackThread(
    { operation: 'build', packs: old },
    old.map((p) => p.bytes.buffer),
    job.signal,
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

/** Hashes what the store gives back: from the commit on it is the only place of these contents. */
async function checkStored(
  { ctx, job, placed }: Work,
  { objectKey, index }: NonNullable<Staged>,
): Promise<void> {
  const bytes = owned(await ctx.store.get(objectKey));
  const hashes = owned(Buffer.concat([...placed.values()]));
  await runRepackThread(
    { operation: 'check', bytes, index: owned(index), hashes },
    [bytes.buffer],
    job.signal,
    async () => [],
  );
}

/**
 * False where the project was deleted or a rival was faster. Throws, and leaves everything as it was, where
 * not every content has a new place.
 */
async function replacePacks(
  tx: Tx,
  { ctx, job, project, packs, placed }: Work,
  staged: Staged,
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
  const still = await lockPacks(tx, project.id, ids);
  if (!live || still < ids.length) return false;
  if (staged) {
    await commitPack(tx, project, staged);
    const hashes = Buffer.concat(packs.map((p) => p.hashes));
    const moved = await moveBlobs(tx, project.id, { from: ids, to: staged.packId, hashes });
    const expected = [...placed.values()].reduce((sum, held) => sum + held.length / SHA_BYTES, 0);
    if (moved !== expected)
      throw new Error(`${moved} contents have a place in packs that were merged, not ${expected}`);
  }
  await deletePacks(tx, ids);
  await expireReplaced(
    tx,
    packs.map((p) => p.object_key),
    Math.max(ctx.config.cleanupGraceSeconds, GRACE_SECONDS),
  );
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
