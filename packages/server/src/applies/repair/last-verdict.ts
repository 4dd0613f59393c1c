import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { ApplyRow } from '../../db/schema.ts';
import { repairVerdict } from './verdict.ts';
import type { Verdict } from './verdict.ts';

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
  return repairVerdict(apply.repairs, run, { isOver });
}
