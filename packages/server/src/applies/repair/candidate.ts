import type { Context } from '../../context.ts';
import { loadTree, readBlobs, sameTree, treeOf } from '../../sources/index.ts';
import { decodeManifest } from '../../trees/manifest.ts';
import type { Tree } from '../../trees/tree.ts';
import { cleanOutcome } from '../merge-outcome.ts';
import type { Head, Outcome, QueuedApply } from '../outcome.ts';

/**
 * The outcome of the last repair's candidate with the head as it is now; null without a candidate, and
 * where it conflicts with a newer head.
 */
export async function candidateOutcome(ctx: Context, queued: QueuedApply): Promise<Outcome | null> {
  const { apply, head } = queued;
  const last = apply.repairs.at(-1);
  if (!last) return null;
  const kept = await ctx.db
    .selectFrom('repair_candidates')
    .select(['run_id', 'manifest'])
    .where('apply_id', '=', apply.id)
    .executeTakeFirst();
  if (!kept) return null;
  const tree = decodeManifest(kept.manifest);
  return last.headSourceId === head.sourceId
    ? resultOf(ctx, tree, head)
    : mergeCandidate(ctx, queued, { runId: kept.run_id, tree, headSourceId: last.headSourceId });
}

async function resultOf(ctx: Context, tree: Tree, head: Head): Promise<Outcome> {
  return sameTree(tree, await loadTree(ctx, head.sourceId))
    ? { event: 'merge', sourceId: head.sourceId }
    : { event: 'merge', tree, staged: null };
}

/**
 * The head moved while the repair worked: its candidate is merged as a draft is, from the head that it was
 * made for.
 */
async function mergeCandidate(
  ctx: Context,
  { apply, head }: QueuedApply,
  candidate: { runId: string; tree: Tree; headSourceId: string },
): Promise<Outcome | null> {
  const merge = await ctx.merger.merge({
    base: treeOf(ctx, candidate.headSourceId),
    head: treeOf(ctx, head.sourceId),
    draft: { id: `candidate ${candidate.runId}`, load: () => candidate.tree },
    readBlobs: (shas) => readBlobs(ctx, apply.project_id, shas),
  });
  return merge.status === 'conflicted' ? null : cleanOutcome(ctx, { apply, head }, merge);
}
