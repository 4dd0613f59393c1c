import type { Context } from '../../context.ts';
import type { RunRow } from '../../db/schema.ts';
import { attemptOf } from '../../runs/index.ts';
import type { Attempt } from '../../runs/index.ts';

/** Computes what a repair run of an apply starts from: the merge with the head that it is for. */
export async function prepareAttempt(ctx: Context, run: RunRow): Promise<Attempt> {
  const apply = await ctx.db
    .selectFrom('applies')
    .selectAll()
    .where('id', '=', run.apply_id!)
    .executeTakeFirstOrThrow();
  const sides = {
    projectId: apply.project_id,
    base: apply.base_source_id,
    head: apply.repairs.at(-1)!.headSourceId,
    draft: apply.draft_source_id,
  };
  return attemptOf(
    ctx,
    sides,
    apply.repairs.flatMap((repair) => repair.error ?? []),
  );
}
