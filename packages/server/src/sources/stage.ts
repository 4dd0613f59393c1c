/**
 * Puts contents into the store before the transaction that refers to them. The object is registered first:
 * cleanup.ts removes what an interrupted upload leaves.
 */
import type { Context } from '../context.ts';
import { TimedOut, within } from '../deadline.ts';
import { newId } from '../ids.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';
import { faultsMapped, storageUnavailable } from './faults.ts';
import type { Handle, Packed } from './import/pool.ts';
import { discardUncommitted, registerObject, renewObject } from './objects.ts';
import { findStored } from './store.ts';

/** A store that does not answer gives up by itself, but a folder's file system may hang for ever. */
export const PUT_MS = 180_000;

type Staging = Pick<Context, 'db' | 'store' | 'pool'>;
export interface ProjectKey {
  org_id: string;
  id: string;
}

/**
 * Where the contents are: in memory by SHA-256, or kept in the worker under a handle, which ends here.
 */
type Contents = Map<string, Buffer> | KeptContents;
interface KeptContents {
  handle: Handle;
  /** Of all of them; others may be among these. */
  sha256s: Iterable<string>;
}

/** A pack that was put; null where the project had every content already. */
export type Staged = { packId: string; objectKey: string; byteSize: number; index: Buffer } | null;

/** The contents that the project does not have, each once, in the order given. */
async function missingBlobs(
  ctx: Pick<Context, 'db'>,
  projectId: string,
  sha256s: Iterable<string>,
): Promise<string[]> {
  const wanted = [...new Set(sha256s)];
  const stored = await findStored(ctx.db, projectId, wanted);
  return stored.size === 0 ? wanted : wanted.filter((sha256) => !stored.has(sha256));
}

/**
 * Packs what the project does not have, off the event loop, and puts it into the store. No transaction may
 * be open. Throws 503 `source_storage_unavailable` where the store is away, and `ImportError`
 * `content_mismatch` where a content is not what its hash says.
 */
export async function stageBlobs(ctx: Staging, project: ProjectKey, contents: Contents): Promise<Staged> {
  const packed = await faultsMapped(pack(ctx, project.id, contents));
  return packed && packed.bytes.length > 0 ? stagePack(ctx, project, packed) : null;
}

/**
 * Registers an object and puts it within a limit, for the transaction that commits it; one that fails is
 * removed, also where its put ends after the limit. No transaction may be open. Throws 503
 * `source_storage_unavailable` where the store is away.
 */
export async function putObject(
  ctx: Pick<Context, 'db' | 'store'>,
  object: { org_id: string; project_id: string | null; key: string },
  bytes: Uint8Array,
): Promise<void> {
  const remove = () => discardUncommitted(ctx.db, object).catch(() => null);
  await registerObject(ctx.db, object);
  const put = ctx.store.put(object.key, bytes);
  try {
    await faultsMapped(
      within(PUT_MS, put).catch((error: unknown) => {
        if (!(error instanceof TimedOut)) throw error;
        void put.then(remove).catch(() => null);
        throw new StorageUnavailableError('an object was not taken in time', { cause: error });
      }),
    );
    // An object that is being deleted is refused at its commit, after the project's own refusals.
    await renewObject(ctx.db, object.key);
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Puts a pack that is not empty into the store. No transaction may be open. Throws 503
 * `source_storage_unavailable` where the store is away.
 */
export async function stagePack(
  ctx: Pick<Context, 'db' | 'store'>,
  project: ProjectKey,
  packed: Packed,
): Promise<NonNullable<Staged>> {
  const packId = newId('pack');
  const objectKey = `projects/${project.id}/${packId}`;
  await putObject(ctx, { org_id: project.org_id, project_id: project.id, key: objectKey }, packed.bytes);
  return { packId, objectKey, byteSize: packed.bytes.length, index: packed.index };
}

async function pack(ctx: Staging, projectId: string, contents: Contents): Promise<Packed | null> {
  if (contents instanceof Map) {
    const missing = await missingBlobs(ctx, projectId, contents.keys());
    return missing.length === 0
      ? null
      : ctx.pool.packContents(missing.map((sha256) => ({ sha256, bytes: contents.get(sha256)! })));
  }
  return packKept(ctx, projectId, contents);
}

async function packKept(
  ctx: Staging,
  projectId: string,
  { handle, sha256s }: KeptContents,
): Promise<Packed | null> {
  try {
    const wanted = new Set(sha256s);
    const stored = await findStored(ctx.db, projectId, [...wanted]);
    return stored.size === wanted.size ? null : await ctx.pool.packBlobs(handle, [...stored]);
  } finally {
    ctx.pool.release(handle);
  }
}

/**
 * Has a staged object removed now instead of after an hour, for work that ended without a source. Harmless
 * when it was committed.
 */
export async function abandon(ctx: Pick<Context, 'db'>, project: ProjectKey, staged: Staged): Promise<void> {
  if (!staged) return;
  const { objectKey: key } = staged;
  await discardUncommitted(ctx.db, { org_id: project.org_id, project_id: project.id, key });
}

/**
 * The object was removed while it was staged: the clean-up took it for interrupted, or its project was
 * deleted.
 */
export const stagedTooLong = () =>
  storageUnavailable(new Error('the staged object was removed before its commit'));
