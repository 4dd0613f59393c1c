import { readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';

/** Folders that are skipped, except as the start. */
const IGNORED = new Set(['.git', 'node_modules']);

export interface Found {
  /** Relative to the start. */
  path: string;
  isFolder: boolean;
  depth: number;
}

/**
 * Entries below a folder, sorted by name, each folder before its contents; links are listed and not followed.
 * Stops after `limit` entries.
 */
export function* walk(
  top: string,
  { depth = Infinity, limit }: { depth?: number; limit: number },
): Generator<Found> {
  let left = limit;
  function* visit(folder: string, level: number): Generator<Found> {
    let entries: Dirent[];
    try {
      entries = readdirSync(join(top, folder), { withFileTypes: true });
    } catch {
      return;
    }
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (left-- <= 0) return;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      yield { path, isFolder: entry.isDirectory(), depth: level };
      if (entry.isDirectory() && level < depth && !IGNORED.has(entry.name)) yield* visit(path, level + 1);
    }
  }
  yield* visit('', 1);
}
