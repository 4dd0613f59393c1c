/** Where the contents of a source's files are: which pack, and there which frame. */
import type { Frame, Placement } from '../../trees/pack.ts';
import type { Entry } from '../../trees/tree.ts';
import type { PlacedPack } from '../blobs.ts';
import { locate, placedPacks } from '../contents.ts';
import type { Reading } from '../contents.ts';

/** A file and its place in the source. */
export interface Numbered {
  index: number;
  path: string;
  entry: Entry;
}

export interface Placed extends Numbered, Placement {
  pack: PlacedPack;
}

export const frameOf = ({ pack, frame }: Placed): Frame => pack.index.frames[frame]!;

export interface SearchedSource {
  id: string;
  projectId: string;
}

/** Ids of packs by the files' places, of the sources that were searched last: 8 bytes a file. */
const MAX_KNOWN = 500_000;
const known = new Map<string, string[]>();
/** Files, and one for each source. */
let knownCount = 0;

/** To the end of those that are forgotten. */
function keep(sourceId: string, ids: string[]): void {
  known.delete(sourceId);
  known.set(sourceId, ids);
}

function learn(sourceId: string, files: readonly Numbered[], holders: ReadonlyMap<string, Holder>): void {
  const ids = known.get(sourceId) ?? [];
  if (!known.has(sourceId)) knownCount++;
  keep(sourceId, ids);
  for (const { index, entry } of files) {
    if (ids[index] === undefined) knownCount++;
    ids[index] = holders.get(entry.sha256)!.id;
  }
  for (const [oldest, held] of known) {
    if (knownCount <= MAX_KNOWN || oldest === sourceId) break;
    known.delete(oldest);
    knownCount--;
    // Holes are skipped.
    held.forEach(() => knownCount--);
  }
}

/**
 * Places files, by what is remembered of their source as long as its packs are there. Throws 503
 * `source_storage_unavailable` where a content is in no pack.
 */
export async function placeFiles(
  ctx: Reading,
  source: SearchedSource,
  files: readonly Numbered[],
): Promise<Placed[]> {
  const ids = known.get(source.id);
  const wanted = new Set(files.map(({ index }) => ids?.[index]));
  if (ids && !wanted.has(undefined)) {
    keep(source.id, ids);
    const packs = await placedPacks(ctx.db, [...wanted] as string[]);
    if (packs.size === wanted.size) return files.map((file) => placed(file, packs.get(ids[file.index]!)!));
  }
  return placeByDatabase(ctx, source, files);
}

/** The same by the database alone: a pack may have been replaced. */
export async function placeByDatabase(
  ctx: Reading,
  source: SearchedSource,
  files: readonly Numbered[],
): Promise<Placed[]> {
  const holders = new Map<string, Holder>();
  const wanted = [...new Set(files.map(({ entry }) => entry.sha256))];
  for (const { id, pack, sha256s } of await locate(ctx, source.projectId, wanted))
    for (const sha256 of sha256s) holders.set(sha256, { id, pack });
  learn(source.id, files, holders);
  return files.map((file) => placed(file, holders.get(file.entry.sha256)!.pack));
}

interface Holder {
  id: string;
  pack: PlacedPack;
}

function placed({ index, path, entry }: Numbered, pack: PlacedPack): Placed {
  const { frame, offset, length } = pack.index.blobs.get(entry.sha256)!;
  return { index, path, entry, pack, frame, offset, length };
}
