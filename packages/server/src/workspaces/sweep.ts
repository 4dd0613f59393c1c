import type { Context } from '../context.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { forgetDeletedProjects } from './forget-projects.ts';
import { sweepFormer } from './sweep-former.ts';
import { sweepIdle } from './sweep-idle.ts';
import { sweepSurplus } from './sweep-surplus.ts';
import { sweepUnknown, sweepVanished } from './sweep-vanished.ts';

const SWEEP_MS = 1_000;
const FORGET_MS = 30_000;
const MEASURE_MS = 5_000;

/**
 * Finds workspaces whose idle time is over, those for which an organization has no more room, those that
 * vanished with their runner or are at an older one, and what the runner keeps of deleted projects. Safe in every process
 * at once; `when`: for the idle times, of which one process is enough.
 */
export function sweepWorkspaces(ctx: Context, when: When): void {
  const options = {
    until: ctx.shutdown,
    onFailure: (err: unknown) => ctx.log.debug({ err }, 'workspaces were not swept'),
  };
  every(SWEEP_MS, () => sweepIdle(ctx), { ...options, when });
  every(SWEEP_MS, () => Promise.all([sweepVanished(ctx), sweepFormer(ctx)]), options);
  const bound = ctx.config.organizationBounds.workspaceBytes;
  if (bound !== null)
    every(MEASURE_MS, () => sweepSurplus(ctx, bound), {
      // On one machine each process measures the workspaces of its own runner.
      ...(ctx.fleet && { when }),
      until: ctx.shutdown,
      onFailure: (err) => ctx.log.debug({ err }, 'workspaces were not measured'),
    });
  every(FORGET_MS, () => (ctx.fleet ? sweepUnknown(ctx) : forgetDeletedProjects(ctx)), {
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'deleted projects were not forgotten'),
  });
}
