import type { Context } from '../context.ts';
import type { MergeResult } from '../merge/pool.ts';
import { mergeRequest, stageBlobs } from '../sources/index.ts';
import { invalidResult } from './merge-faults.ts';
import type { Outcome, QueuedApply } from './outcome.ts';
import { conflictOutcome } from './repair/conflict.ts';

/**
 * The outcome where the result is a source that exists, so that nothing is to be merged; null elsewhere.
 * Where the head has moved, only the merge can tell: it has the trees at hand.
 */
export async function reusedSource(ctx: Context, { apply, head }: QueuedApply): Promise<Outcome | null> {
  const { base_source_id: base, draft_source_id: draft } = apply;
  if (draft === base) return { event: 'merge', sourceId: head.sourceId };
  if (base !== head.sourceId) return null;
  const hashes = await ctx.db
    .selectFrom('sources')
    .select('sha256')
    .distinct()
    .where('id', 'in', [draft, head.sourceId])
    .execute();
  return { event: 'merge', sourceId: hashes.length === 1 ? head.sourceId : draft };
}

/** Merges base, head and draft. `exhausted` says why no further repair may be started. */
export async function mergeOutcome(
  ctx: Context,
  { apply, head }: QueuedApply,
  exhausted: string | null,
): Promise<Outcome> {
  const sides = {
    projectId: apply.project_id,
    base: apply.base_source_id,
    head: head.sourceId,
    draft: apply.draft_source_id,
  };
  const merge = await ctx.merger.merge(mergeRequest(ctx, sides, apply.resolutions));
  if (merge.status === 'conflicted') {
    const conflicts = merge.conflicts.map((conflict) => conflict.path);
    return conflictOutcome(ctx, { apply, head }, conflicts, exhausted);
  }
  return cleanOutcome(ctx, { apply, head }, merge);
}

/** The outcome of a merge without conflicts; stages the contents that the merge made. */
export async function cleanOutcome(
  ctx: Context,
  { apply, head }: QueuedApply,
  merge: MergeResult,
): Promise<Outcome> {
  if (merge.invalid.length)
    return { event: 'fail', error: invalidResult(merge), headSourceId: head.sourceId };
  if (merge.changes.length === 0) return { event: 'merge', sourceId: head.sourceId };
  return {
    event: 'merge',
    tree: merge.tree,
    staged: await stageBlobs(ctx, { org_id: apply.org_id, id: apply.project_id }, merge.newBlobs),
  };
}
