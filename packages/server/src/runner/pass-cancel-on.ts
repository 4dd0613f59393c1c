import type { Context } from '../context.ts';
import { every } from '../jobs/every.ts';

const LOOK_MS = 1_000;

/**
 * Cancels a task at the runner once `isCancelled` says so: asks at once, on wake-ups of `wakeId`, and every
 * second.
 */
export function passCancelOn(
  ctx: Context,
  taskId: string,
  wakeId: string,
  isCancelled: () => Promise<boolean>,
): { stop(): void } {
  let isPassedOn = false;
  const look = async () => {
    if (isPassedOn || !(await isCancelled())) return;
    await ctx.runner.cancel(taskId);
    isPassedOn = true;
  };
  const loop = every(LOOK_MS, look, {
    onFailure: (err) =>
      ctx.log.debug({ err, task: taskId }, 'looking after a task failed; the next look is in a second'),
  });
  const unlisten = ctx.bus.listen('control', (id) => {
    if (id === wakeId) loop.runNow();
  });
  loop.runNow();
  return {
    stop() {
      unlisten();
      void loop.stop();
    },
  };
}
