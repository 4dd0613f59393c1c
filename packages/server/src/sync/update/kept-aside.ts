import { commitSource, mergeBase, mergeKeptAside } from '../../commits/index.ts';
import type { KeptAsideChange } from '../../commits/index.ts';
import { loadTree } from '../../sources/index.ts';
import type { Tree } from '../../trees/tree.ts';
import type { Syncing } from '../syncing.ts';

/**
 * Merges what the branch of a pull request and a commit of its base have and no source can hold. `merged`: the
 * merged files, where there are any.
 */
export async function keptAsideOf(
  { ctx, repository, row }: Syncing,
  baseSha: string,
  merged?: Tree,
): Promise<{ changes: KeptAsideChange[]; conflicts: string[] }> {
  const common = await mergeBase(ctx, repository, row.head_sha, baseSha);
  if (common === null) return { changes: [], conflicts: [] };
  const side = async (commitSha: string) => {
    const project = { org_id: row.org_id, id: row.project_id };
    const source = await commitSource(ctx, project, repository, { commitSha, branch: row.base_ref });
    return { commitSha, tree: await loadTree(ctx, source.id) };
  };
  return mergeKeptAside(ctx, repository, {
    base: await side(common),
    ours: { commitSha: row.head_sha, tree: await loadTree(ctx, row.head_source_id!) },
    theirs: await side(baseSha),
    ...(merged ? { merged } : {}),
  });
}
