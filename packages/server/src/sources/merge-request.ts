import type { Context } from '../context.ts';
import type { MergeRequest, TreeRef } from '../merge/pool.ts';
import type { Resolution } from '../merge/types.ts';
import { readBlobs } from './contents.ts';
import { loadTree } from './load-tree.ts';

/** The sources of a merge, which never change. The draft started from the base. */
export interface MergeSides {
  projectId: string;
  base: string | null;
  head: string;
  draft: string;
}

/** The base of a thread that started without one. */
const NOTHING: TreeRef = { id: 'nothing', load: () => new Map() };

/** Refers the merge engine to a source. */
export const treeOf = (ctx: Context, id: string): TreeRef => ({ id, load: () => loadTree(ctx, id) });

/** Refers the merge engine to three sources of a project, of which it reads the parts that it needs. */
export function mergeRequest(
  ctx: Context,
  { projectId, base, head, draft }: MergeSides,
  resolutions: Resolution[] = [],
): MergeRequest {
  return {
    base: base === null ? NOTHING : treeOf(ctx, base),
    head: treeOf(ctx, head),
    draft: treeOf(ctx, draft),
    readBlobs: (shas) => readBlobs(ctx, projectId, shas),
    resolutions,
  };
}
