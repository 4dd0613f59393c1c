/** What of a commit's tree a source may hold, and what stays in commits alone. */
import { isUtf8 } from 'node:buffer';
import { checkPath, findCollisions, isReserved } from '../trees/paths.ts';

export type KeptAsideReason =
  | 'symlink'
  | 'submodule'
  | 'reserved_name'
  | 'invalid_name'
  | 'collision'
  | 'too_large';

/** `path`: bytes that are no UTF-8 are replaced in it. */
export interface KeptAside {
  path: string;
  reason: KeptAsideReason;
}

interface Entry {
  path: Buffer;
  mode: string;
  byteSize: number;
}

/**
 * Divides a tree's entries, which are in the order of their paths' bytes, into the files of a source and what
 * is kept aside. Limits of the whole are not looked at.
 */
export function sortTree<E extends Entry>(
  entries: readonly E[],
  maxFileBytes: number,
): { files: { path: string; entry: E }[]; keptAside: (KeptAside & { entry: E })[] } {
  const keptAside: (KeptAside & { entry: E })[] = [];
  const good: { path: string; entry: E }[] = [];
  for (const entry of entries) {
    const path = entry.path.toString('utf8');
    const reason = reasonOf(entry, path, maxFileBytes);
    if (reason === null) good.push({ path, entry });
    else keptAside.push({ path, reason, entry });
  }
  const colliding = new Set(findCollisions(good.map(({ path }) => path)).map(({ index }) => index));
  if (colliding.size === 0) return { files: good, keptAside };
  for (const index of colliding) keptAside.push({ ...good[index]!, reason: 'collision' });
  return {
    files: good.filter((_, index) => !colliding.has(index)),
    keptAside: keptAside.sort((a, b) => Buffer.compare(a.entry.path, b.entry.path)),
  };
}

function reasonOf(
  { path: bytes, mode, byteSize }: Entry,
  path: string,
  maxFileBytes: number,
): KeptAsideReason | null {
  if (mode === '120000') return 'symlink';
  if (mode === '160000') return 'submodule';
  if (!isUtf8(bytes)) return 'invalid_name';
  if (path.split('/').some(isReserved)) return 'reserved_name';
  if (checkPath(path) !== null) return 'invalid_name';
  return byteSize > maxFileBytes ? 'too_large' : null;
}
