import type { Context } from '../context.ts';

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
  let isLooking = false;
  const look = async () => {
    if (isPassedOn || isLooking) return;
    isLooking = true;
    try {
      if (!(await isCancelled())) return;
      await ctx.runner.cancel(taskId);
      isPassedOn = true;
    } catch (err) {
      ctx.log.debug({ err, task: taskId }, 'looking after a task failed; the next look is in a second');
    } finally {
      isLooking = false;
    }
  };
  const unlisten = ctx.bus.listen('control', (id) => {
    if (id === wakeId) void look();
  });
  const timer = setInterval(() => void look(), LOOK_MS);
  void look();
  return {
    stop() {
      unlisten();
      clearInterval(timer);
    },
  };
}
