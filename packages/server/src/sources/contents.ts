/**
 * The contents of a project's files, from its packs. Only the packs that hold wanted contents are looked up.
 */
import type { Readable } from 'node:stream';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import type { Tree } from '../trees/tree.ts';
import { ObjectNotFoundError } from '../storage/object-store.ts';
import { archiveOf as archive, tarOf as tar } from './archive.ts';
import type { OfWorkspace } from './archive.ts';
import { createBlobReader } from './blobs.ts';
import type { BlobReader, PlacedPack } from './blobs.ts';
import { sourceFault, storageCorrupt } from './faults.ts';
import { decodeIndex } from '../trees/pack.ts';
import { findPackObjects, findPacks } from './store.ts';

export type Reading = Pick<Context, 'db' | 'store'>;

/** Decoded indexes, about 150 bytes a blob. Packs never change. */
const MAX_INDEXED_BLOBS = 200_000;
const indexes = new Map<string, PlacedPack>();
let indexedBlobs = 0;

function remember(id: string, pack: PlacedPack): void {
  if (!indexes.has(id)) indexedBlobs += pack.index.blobs.size;
  indexes.delete(id);
  indexes.set(id, pack);
  for (const [oldest, { index }] of indexes) {
    if (indexedBlobs <= MAX_INDEXED_BLOBS || oldest === id) break;
    indexes.delete(oldest);
    indexedBlobs -= index.blobs.size;
  }
}

/** Packs by id; those that are not there any more are left out. */
export async function placedPacks(db: Db, ids: string[]): Promise<Map<string, PlacedPack>> {
  const found = new Map(ids.flatMap((id) => (indexes.has(id) ? [[id, indexes.get(id)!] as const] : [])));
  const missing = ids.filter((id) => !found.has(id));
  const rows = missing.length > 0 ? await findPackObjects(db, missing) : [];
  for (const { id, object_key: packKey, index } of rows)
    found.set(id, { packKey, index: decodeIndex(index) });
  for (const [id, pack] of found) remember(id, pack);
  return found;
}

interface Held {
  id: string;
  pack: PlacedPack;
  sha256s: string[];
}

/**
 * A pack may be replaced between two look-ups, and its object deleted before a slow reader is done: then the
 * contents are looked up again.
 */
const LOOKUPS = 3;

/** Finds where these contents are now. A remembered index is used only for a pack that the database names. */
export async function locate({ db }: Reading, projectId: string, wanted: string[]): Promise<Held[]> {
  for (let lookups = 1; ; lookups++) {
    const packs = await findPacks(db, projectId, wanted);
    const count = packs.reduce((sum, p) => sum + p.sha256s.length, 0);
    if (count < wanted.length)
      throw storageCorrupt(new Error(`${wanted.length - count} contents of a source are in no pack`));
    const placed = await placedPacks(
      db,
      packs.map((p) => p.id),
    );
    if (placed.size === packs.length)
      return packs.map(({ id, sha256s }) => ({ id, pack: placed.get(id)!, sha256s }));
    if (lookups === LOOKUPS)
      throw storageCorrupt(new Error(`${packs.length - placed.size} packs of a source are not there`));
  }
}

/**
 * Finds the packs when the first content is read. Throws 503 `source_storage_unavailable` where the store
 * is away or a content missing or damaged.
 */
function projectBlobs(ctx: Reading, projectId: string): Pick<BlobReader, 'readBlobs'> {
  return {
    async *readBlobs(sha256s) {
      let next = 0;
      for (let lookups = 1; ; lookups++) {
        try {
          const rest = sha256s.slice(next);
          const held = await locate(ctx, projectId, [...new Set(rest)]);
          for await (const blob of createBlobReader(
            ctx.store,
            held.map((h) => h.pack),
          ).readBlobs(rest)) {
            next++;
            yield blob;
          }
          return;
        } catch (error) {
          if (!(error instanceof ObjectNotFoundError) || lookups === LOOKUPS) throw sourceFault(error);
        }
      }
    },
  };
}

/** Packs that are read in parallel, each by one range read at a time. */
const PACKS_AT_ONCE = 4;

/**
 * Contents of a project by SHA-256, each once. All of them are in memory at once: for what a bundle holds
 * at most (32 MiB), or less. Throws 503 `source_storage_unavailable` where the store is away, or one of
 * them is missing or damaged.
 */
export async function readBlobs(
  ctx: Reading,
  projectId: string,
  sha256s: Iterable<string>,
): Promise<Map<string, Buffer>> {
  const wanted = [...new Set(sha256s)];
  const blobs = new Map<string, Buffer>();
  for (let lookups = 1; ; lookups++) {
    try {
      await readHeld(
        ctx,
        await locate(
          ctx,
          projectId,
          wanted.filter((sha256) => !blobs.has(sha256)),
        ),
        blobs,
      );
      return blobs;
    } catch (error) {
      if (!(error instanceof ObjectNotFoundError) || lookups === LOOKUPS) throw sourceFault(error);
    }
  }
}

async function readHeld(ctx: Reading, queue: Held[], into: Map<string, Buffer>): Promise<void> {
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await readPack(ctx, next, into);
  };
  await Promise.all(Array.from({ length: PACKS_AT_ONCE }, work));
}

async function readPack(ctx: Reading, held: Held, into: Map<string, Buffer>): Promise<void> {
  for await (const { sha256, bytes } of createBlobReader(ctx.store, [held.pack]).readBlobs(inPackOrder(held)))
    into.set(sha256, bytes);
}

/** In the pack's order each frame is fetched once. */
function inPackOrder({ pack, sha256s }: Held): string[] {
  const place = (sha256: string) => pack.index.blobs.get(sha256)?.frame ?? 0;
  return sha256s.toSorted((a, b) => place(a) - place(b));
}

/**
 * Contents of a project, each once, in the order of its packs: nothing is held but what one range read
 * fetches. Throws as `readBlobs`.
 */
export async function* streamBlobs(
  ctx: Reading,
  projectId: string,
  sha256s: Iterable<string>,
): AsyncGenerator<{ sha256: string; bytes: Buffer }> {
  const rest = new Set(sha256s);
  for (let lookups = 1; rest.size > 0; lookups++) {
    try {
      for (const held of await locate(ctx, projectId, [...rest])) {
        for await (const blob of createBlobReader(ctx.store, [held.pack]).readBlobs(inPackOrder(held))) {
          rest.delete(blob.sha256);
          yield blob;
        }
      }
    } catch (error) {
      if (!(error instanceof ObjectNotFoundError) || lookups === LOOKUPS) throw sourceFault(error);
    }
  }
}

/** One content; throws as `readBlobs`. */
export async function readBlob(ctx: Reading, projectId: string, sha256: string): Promise<Buffer> {
  return (await readBlobs(ctx, projectId, [sha256])).get(sha256)!;
}

/**
 * An uncompressed tar of the source's files, in order of the paths, with what belongs to a workspace, read at
 * the consumer's pace.
 */
export function tarOf(ctx: Reading, projectId: string, tree: Tree, workspace?: OfWorkspace): Readable {
  return tar(tree, projectBlobs(ctx, projectId), workspace);
}

/** The same as tar.gz: a function of the files alone. */
export function archiveOf(ctx: Reading, projectId: string, tree: Tree): Readable {
  return archive(tree, projectBlobs(ctx, projectId));
}
