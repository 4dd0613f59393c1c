import type { Context } from '../context.ts';
import { loadTree, tarOf } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { packPatch, putSourceFiles } from '../workspaces/index.ts';
import { setSource } from './store.ts';
import type { PreviewNow } from './store.ts';

/** A preview with the source that its sandbox holds, and the one that it is to show. */
type PreviewSources = Pick<PreviewNow, 'id' | 'project_id' | 'source_id' | 'latest_source_id'>;

const treeOf = async (ctx: Context, sourceId: string | null): Promise<Tree> =>
  sourceId === null ? new Map() : loadTree(ctx, sourceId);

/**
 * Gives a prepared sandbox the source that it is to show, with which its command starts. The row names the
 * source first, so that a task that runs always holds the row's source. `layer`: the key of what is below.
 */
export async function bringFirst(
  ctx: Context,
  preview: PreviewSources,
  layer: string | undefined,
): Promise<void> {
  await setSource(ctx.db, preview.id, preview.latest_source_id);
  if (preview.latest_source_id === null)
    await ctx.runner.putSource(preview.id, tarOf(ctx, preview.project_id, new Map()));
  else
    await putSourceFiles(ctx, preview.project_id, preview.latest_source_id, (tar, origin) =>
      ctx.runner.putSource(preview.id, tar, { ...origin, layer }),
    );
}

/** Writes a newer source into the running sandbox; idempotent. Files that the server itself wrote stay. */
export async function bringNewer(ctx: Context, preview: PreviewSources): Promise<void> {
  const [from, to] = [await treeOf(ctx, preview.source_id), await treeOf(ctx, preview.latest_source_id)];
  await ctx.runner.putSource(preview.id, await packPatch(ctx, { projectId: preview.project_id, from, to }));
  await setSource(ctx.db, preview.id, preview.latest_source_id);
}
