import type { Context } from '../context.ts';
import type { MergeRequest, MergeResult, TreeRef } from '../merge/pool.ts';
import type { Resolution } from '../merge/types.ts';
import { loadTree, readBlobs } from '../sources/index.ts';
import type { MergeSides } from './policy.ts';

/** The base of a thread that started without a source. */
const NOTHING: TreeRef = { id: 'nothing', load: () => new Map() };

/** A source for the merge engine. */
export const treeOf = (ctx: Context, id: string): TreeRef => ({ id, load: () => loadTree(ctx, id) });

/** Three sources of a project for the merge engine, which reads of them what it needs. */
export function mergeRequest(
  ctx: Context,
  { projectId, base, head, draft }: MergeSides,
  resolutions: Resolution[],
): MergeRequest {
  return {
    base: base === null ? NOTHING : treeOf(ctx, base),
    head: treeOf(ctx, head),
    draft: treeOf(ctx, draft),
    readBlobs: (shas) => readBlobs(ctx, projectId, shas),
    resolutions,
  };
}

/** The faults of resolutions as places in the body. */
export const resolutionFields = (faults: { index: number; message: string }[]) =>
  faults.map(({ index, message }) => ({ path: `/resolutions/${index}/path`, message }));

/** The rules for sources that a clean merge breaks, as an apply's error. */
export function invalidResult({ invalid }: MergeResult): string {
  const shown = invalid
    .slice(0, 10)
    .map(({ path, message }) => (path === null ? message : `${path} ${message}`));
  return `invalid_result: The merge breaks a rule for sources: ${shown.join('; ')}${invalid.length > shown.length ? '; and more' : ''}.`;
}
