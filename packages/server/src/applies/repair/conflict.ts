import type { Context } from '../../context.ts';
import { repairAgent } from '../../runs/index.ts';
import type { Outcome, QueuedApply } from '../outcome.ts';

/**
 * Decides who resolves conflicts. In manual mode, and with resolutions, that is the caller; else it is an
 * agent, as long as there is one and time for it. `exhausted` says why no further repair may be started.
 */
export async function conflictOutcome(
  ctx: Context,
  { apply, head }: QueuedApply,
  conflicts: string[],
  exhausted: string | null,
): Promise<Outcome> {
  const conflicted = (error: string | null): Outcome => ({
    event: 'conflict',
    conflicts,
    error,
    headSourceId: head.sourceId,
  });
  if (apply.conflict_resolution === 'manual' || apply.resolutions.length > 0) return conflicted(null);
  if (exhausted !== null) return conflicted(exhausted);
  const failures = apply.repairs.flatMap((repair) => repair.error ?? []);
  const agent = await repairAgent(ctx.db, apply, conflicts, failures);
  if (agent) return { event: 'repair', conflicts, ...agent };
  return conflicted(
    "not_configured: No agent is configured that repairs conflicts. Configure a model, set the app's metadata headrace.repairScript, or resolve them by another apply with expectedHeadSourceId and resolutions.",
  );
}
