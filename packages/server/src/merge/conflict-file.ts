import { isUtf8 } from 'node:buffer';
import type { Entry } from '../trees/tree.ts';
import { conflictText, MAX_SHOWN_BYTES } from './conflict-text.ts';
import type { Conflict, ConflictFile, ConflictSide, FreshMerge, ReadBlobs, Sides } from './types.ts';

/** Everything a person needs to resolve one conflict: what each side has at the path, and git's merged text. */
export async function conflictFile(
  { path, kind }: Conflict,
  { merge, sides, readBlobs }: { merge: FreshMerge; sides: Sides; readBlobs: ReadBlobs },
): Promise<ConflictFile> {
  const at = { base: sides.base.get(path), head: sides.head.get(path), draft: sides.draft.get(path) };
  const blobs = await readBlobs([...new Set(Object.values(at).flatMap((entry) => entry?.sha256 ?? []))]);
  const side = (entry: Entry | undefined): ConflictSide | null =>
    entry ? shown(entry, blobs.get(entry.sha256)!) : null;
  const made = merge.madeAt(path);
  return {
    path,
    kind,
    base: side(at.base),
    head: side(at.head),
    draft: side(at.draft),
    merged: made ? conflictText(made.text, made.labels) : null,
  };
}

function shown({ sha256, byteSize, executable }: Entry, bytes: Buffer): ConflictSide {
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  const content = byteSize > MAX_SHOWN_BYTES ? null : bytes.toString(encoding);
  return { sha256, byteSize, executable, encoding, content };
}
