import type { Context } from '../context.ts';
import type { SourceLimits } from '../trees/limits.ts';
import { accepted, faultsMapped } from './faults.ts';
import type { EditRequest } from './import/pool.ts';
import type { EncodedTree } from './insert-source.ts';
import { loadTree } from './load-tree.ts';
import { stageBlobs } from './stage.ts';
import type { ProjectKey, Staged } from './stage.ts';

/**
 * Applies changes to the source that they name, a source of the project, and stages their contents. Throws 400 if
 * they do not fit. Ends the handle, unless it throws.
 */
export async function stageEdit(
  ctx: Context,
  project: ProjectKey,
  { handle, baseSourceId }: Pick<EditRequest, 'handle' | 'baseSourceId'>,
  limits: SourceLimits,
): Promise<{ tree: EncodedTree; staged: Staged }> {
  const base = await loadTree(ctx, baseSourceId);
  const tree = accepted(await faultsMapped(ctx.pool.applyEdit(handle, base, limits)));
  return { tree, staged: await stageBlobs(ctx, project, { handle, sha256s: tree.brought }) };
}
