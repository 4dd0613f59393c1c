import type { Context } from '../context.ts';
import type { MergeRequest, MergeResult, TreeRef } from '../merge/pool.ts';
import type { Resolution } from '../merge/types.ts';
import { loadTree, readBlobs } from '../sources/index.ts';
import type { MergeSides } from './policy.ts';

/** The base of a thread that started without one. */
const NOTHING: TreeRef = { id: 'nothing', load: () => new Map() };

/** Refers the merge engine to a source. */
export const treeOf = (ctx: Context, id: string): TreeRef => ({ id, load: () => loadTree(ctx, id) });

/** Refers the merge engine to three sources of a project, of which it reads the parts that it needs. */
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

/** The faults of resolutions as fields of the body. */
export const resolutionFields = (faults: { index: number; message: string }[]) =>
  faults.map(({ index, message }) => ({ path: `/resolutions/${index}/path`, message }));

/** The error of an apply whose merge breaks rules for sources. */
export function invalidResult({ invalid }: MergeResult): string {
  const shown = invalid
    .slice(0, 10)
    .map(({ path, message }) => (path === null ? message : `${path} ${message}`));
  return `invalid_result: The merge breaks a rule for sources: ${shown.join('; ')}${invalid.length > shown.length ? '; and more' : ''}.`;
}
