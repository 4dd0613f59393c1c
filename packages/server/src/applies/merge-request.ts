import type { Context } from '../context.ts';
import type { MergeRequest, TreeRef } from '../merge/pool.ts';
import type { Resolution } from '../merge/types.ts';
import { loadTree, readBlobs } from '../sources/index.ts';
import type { MergeSides } from './policy.ts';

/** The base of a thread that started without a source. */
const NOTHING: TreeRef = { id: 'nothing', load: () => new Map() };

/** Three sources of a project for the merge engine, which reads of them what it needs. */
export function mergeRequest(ctx: Context, { projectId, base, head, draft }: MergeSides, resolutions: Resolution[]): MergeRequest {
  const treeOf = (id: string): TreeRef => ({ id, load: () => loadTree(ctx, id) });
  return { base: base === null ? NOTHING : treeOf(base), head: treeOf(head), draft: treeOf(draft), readBlobs: (shas) => readBlobs(ctx, projectId, shas), resolutions };
}

/** The faults of resolutions as places in the body. */
export const resolutionFields = (faults: { index: number; message: string }[]) => faults.map(({ index, message }) => ({ path: `/resolutions/${index}/path`, message }));
