/**
 * Finds the files that are lost with damaged contents: in the newest sources that have them, so that an
 * operator knows what to restore.
 */
import { ManifestFault } from './trees.ts';
import type { SourceTrees } from './trees.ts';
import type { Use } from './findings.ts';

const MAX_USES = 3;

/**
 * Of each content the newest files that have it, the newest first; empty where no source has it. `ids` are
 * oldest first.
 */
export async function findUses(
  trees: SourceTrees,
  ids: readonly string[],
  sha256s: Iterable<string>,
): Promise<Map<string, Use[]>> {
  const uses = new Map([...sha256s].map((sha256): [string, Use[]] => [sha256, []]));
  const open = new Set(uses.keys());
  for (const sourceId of ids.toReversed()) {
    if (open.size === 0) break;
    for (const [path, { sha256 }] of await treeOrNone(trees, sourceId)) {
      if (!open.has(sha256)) continue;
      const found = uses.get(sha256)!;
      found.push({ sourceId, path });
      if (found.length === MAX_USES) open.delete(sha256);
    }
  }
  return uses;
}

async function treeOrNone(trees: SourceTrees, id: string) {
  return trees.treeOf(id).catch((error: unknown) => {
    if (error instanceof ManifestFault) return [];
    throw error;
  });
}
