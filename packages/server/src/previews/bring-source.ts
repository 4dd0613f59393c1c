import type { Context } from '../context.ts';
import { loadTree, tarOf } from '../sources/index.ts';
import type { Tree } from '../trees/tree.ts';
import { patchTar, putSourceFiles } from '../workspaces/index.ts';

export interface Sourced {
  id: string;
  project_id: string;
  /** What its sandbox holds. */
  source_id: string | null;
  latest_source_id: string | null;
}

const treeOf = async (ctx: Context, sourceId: string | null): Promise<Tree> =>
  sourceId === null ? new Map() : loadTree(ctx, sourceId);

/**
 * Gives a prepared sandbox the thread's latest source, with which its command starts. The row names it
 * first: a task that runs holds what the row says.
 */
export async function bringFirst(ctx: Context, preview: Sourced): Promise<void> {
  await ctx.db
    .updateTable('previews')
    .set({ source_id: preview.latest_source_id })
    .where('id', '=', preview.id)
    .execute();
  if (preview.latest_source_id === null)
    await ctx.runner.putSource(preview.id, tarOf(ctx, preview.project_id, new Map()));
  else
    await putSourceFiles(ctx, preview.project_id, preview.latest_source_id, (tar, origin) =>
      ctx.runner.putSource(preview.id, tar, origin),
    );
}

/**
 * Writes a newer source over the running sandbox; done twice it changes nothing. What the server itself
 * wrote stays.
 */
export async function bringNewer(ctx: Context, preview: Sourced): Promise<void> {
  const [from, to] = [await treeOf(ctx, preview.source_id), await treeOf(ctx, preview.latest_source_id)];
  await ctx.runner.putSource(preview.id, await patchTar(ctx, preview.project_id, from, to));
  await ctx.db
    .updateTable('previews')
    .set({ source_id: preview.latest_source_id })
    .where('id', '=', preview.id)
    .execute();
}
