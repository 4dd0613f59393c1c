import type { ObjectStore } from './object-store.ts';
import type { ReadBlobs } from './types.ts';

/**
 * Contents out of git's repository, where a merge or difference has put them already, and only others by
 * `readBlobs`.
 */
export const storedFirst =
  (store: ObjectStore, readBlobs: ReadBlobs): ReadBlobs =>
  async (shas) => {
    store.flush();
    const found = new Map<string, Buffer>();
    for (const sha of shas) {
      const stored = store.blob(sha);
      if (stored) found.set(sha, store.read(stored.oid));
    }
    const missing = shas.filter((sha) => !found.has(sha));
    if (missing.length > 0) for (const [sha, bytes] of await readBlobs(missing)) found.set(sha, bytes);
    return found;
  };
