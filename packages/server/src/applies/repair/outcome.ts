/** What repairs add to the merge of an apply: their end, the candidate, and the next one. */
import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { ApplyRow } from '../../db/schema.ts';
import { loadTree, readBlobs, sameTree, stageBlobs } from '../../sources/index.ts';
import { decodeManifest } from '../../trees/manifest.ts';
import type { Tree } from '../../trees/tree.ts';
import { invalidResult, treeOf } from '../merge-request.ts';
import { repairAgent } from './agent.ts';
import { repairVerdict } from './verdict.ts';
import type { Verdict } from './verdict.ts';
import type { Head, Outcome } from '../settle-apply.ts';

/** The verdict on the last repair of an apply, none of which is under way; null where there was none. */
export async function lastVerdict(ctx: Context, apply: ApplyRow): Promise<Verdict | null> {
  const last = apply.repairs.at(-1);
  if (!last) return null;
  const run = await ctx.db
    .selectFrom('runs')
    .select(['status', 'error_code', 'error_message', 'cancel_requested_at'])
    .where('id', '=', last.runId)
    .executeTakeFirstOrThrow();
  const { is_over: isOver } = await ctx.db
    .selectFrom('applies')
    .select(sql<boolean>`repair_deadline <= now()`.as('is_over'))
    .where('id', '=', apply.id)
    .executeTakeFirstOrThrow();
  return repairVerdict(apply.repairs, run, isOver);
}

/**
 * The outcome of the last repair's candidate with the head as it stands; null without one, and where it
 * conflicts with a newer head.
 */
export async function candidateOutcome(ctx: Context, apply: ApplyRow, head: Head): Promise<Outcome | null> {
  if (apply.repairs.length === 0) return null;
  const kept = await ctx.db
    .selectFrom('repair_candidates')
    .select(['run_id', 'manifest'])
    .where('apply_id', '=', apply.id)
    .executeTakeFirst();
  if (!kept) return null;
  const candidate = decodeManifest(kept.manifest);
  const repaired = apply.repairs.at(-1)!.headSourceId;
  return repaired === head.sourceId
    ? asOutcome(ctx, candidate, head)
    : mergedAgain(ctx, apply, head, { runId: kept.run_id, tree: candidate, repaired });
}

async function asOutcome(ctx: Context, tree: Tree, head: Head): Promise<Outcome> {
  return sameTree(tree, await loadTree(ctx, head.sourceId))
    ? { status: 'applied', sourceId: head.sourceId }
    : { status: 'applied', tree, staged: null };
}

/**
 * The head moved while the repair worked: its candidate is merged as a draft is, from the head that it was
 * made for.
 */
async function mergedAgain(
  ctx: Context,
  apply: ApplyRow,
  head: Head,
  { runId, tree, repaired }: { runId: string; tree: Tree; repaired: string },
): Promise<Outcome | null> {
  const merge = await ctx.merger.merge({
    base: treeOf(ctx, repaired),
    head: treeOf(ctx, head.sourceId),
    draft: { id: `candidate ${runId}`, load: () => tree },
    readBlobs: (shas) => readBlobs(ctx, apply.project_id, shas),
  });
  if (merge.status === 'conflicted') return null;
  if (merge.invalid.length)
    return { status: 'failed', error: invalidResult(merge), headSourceId: head.sourceId };
  if (merge.changes.length === 0) return { status: 'applied', sourceId: head.sourceId };
  return {
    status: 'applied',
    tree: merge.tree,
    staged: await stageBlobs(ctx, { org_id: apply.org_id, id: apply.project_id }, merge.newBlobs),
  };
}

/**
 * Who is to resolve these conflicts: in manual mode, and with resolutions, the caller; else an agent, while
 * there is one and time.
 */
export async function conflictOutcome(
  ctx: Context,
  apply: ApplyRow,
  head: Head,
  conflicts: string[],
  exhausted: string | null,
): Promise<Outcome> {
  const conflicted = (error: string | null): Outcome => ({
    status: 'conflicted',
    conflicts,
    error,
    headSourceId: head.sourceId,
  });
  if (apply.conflict_resolution === 'manual' || apply.resolutions.length > 0) return conflicted(null);
  if (exhausted !== null) return conflicted(exhausted);
  const agent = await repairAgent(
    ctx,
    apply,
    conflicts,
    apply.repairs.flatMap((repair) => repair.error ?? []),
  );
  if (agent) return { status: 'repair', conflicts, ...agent };
  return conflicted(
    "not_configured: No agent is configured that repairs conflicts. Configure a model, set the app's metadata headrace.repairScript, or resolve them by another apply with expectedHeadSourceId and resolutions.",
  );
}
