import { isRoot } from '@headrace/runner/inside-root';
import type { Context } from '../context.ts';
import { invalid } from '../http/errors.ts';
import type { RuntimeEntry } from '../runtimes-config.ts';

/**
 * Whether sandboxes here can have a runtime, as far as this process knows: its driver takes the kind, and a
 * root is there. Without a runner on this machine (role api alone), the root may be on another.
 */
export function isAvailable(
  { config, runnerStatus }: Pick<Context, 'config' | 'runnerStatus'>,
  { root, image }: RuntimeEntry,
): boolean {
  const driver = runnerStatus()?.driver;
  if (driver === 'container' || (!driver && config.sandboxDriver === 'container')) return image !== null;
  return root !== null && (!driver || isRoot(root));
}

/** Throws `invalid_request` for a runtime that is unknown, or that sandboxes here cannot have. */
export function requireRuntime(
  ctx: Pick<Context, 'config' | 'runnerStatus'>,
  name: string | null | undefined,
): void {
  if (name === null || name === undefined) return;
  const runtime = ctx.config.runtimes.find((one) => one.name === name);
  if (runtime && isAvailable(ctx, runtime)) return;
  throw invalid({
    path: '/runtime',
    message: runtime ? 'cannot be had here' : 'names no runtime; GET /api/runtimes lists them',
  });
}
