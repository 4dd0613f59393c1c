import type { Context } from '../context.ts';
import { ApiError } from '../http/errors.ts';
import type { Db } from '../db/database.ts';
import type { Tx } from '../db/transaction.ts';
import { retryHeaders } from '../http/rate-limit.ts';
import { hasUsableRunner } from '../runner/store.ts';
import { hasWorkers, isWorkerAlive, isWorkerSeen } from './store.ts';

declare module '../context.ts' {
  interface Context {
    /** When this process saw last that a worker lives, on its monotonic clock. */
    workerSeenAt: number;
    /** When this process opened, on the same clock. */
    openedAt: number;
  }
}

/** An answer holds for so long: one statement a second, however much work arrives. */
const HOLDS_MS = 1_000;
const RETRY_SECONDS = 5;
/** A worker that is silent for so long counts as gone: a process that has just opened cannot know it yet. */
const SILENCE_MS = 30_000;

/**
 * Refuses new work while no worker with a sandbox that works lives: none registered, or all silent for 30 s;
 * in a fleet also while no runner of the pool takes any. Throws `source_workspace_unavailable`. `mayWait`: the work is queued, and accepted in the first 30 s of a
 * deployment whose API is up before its workers.
 */
export async function requireWorker(
  ctx: Context,
  db: Db | Tx['db'],
  { mayWait = false } = {},
): Promise<void> {
  const own = ctx.config.roles.has('worker') ? ctx.runnerStatus() : null;
  if (own?.ok) return;
  // What this process knows of its own runner is newer than its row.
  const isBroken = own !== null;
  if (!isBroken && performance.now() - ctx.workerSeenAt < HOLDS_MS) return;
  const isAlive = ctx.fleet
    ? (await isWorkerSeen(db)) && (await hasUsableRunner(db, ctx.fleet.pool))
    : await isWorkerAlive(db, isBroken ? ctx.processId : null);
  if (!isAlive) {
    const isOpening = performance.now() - ctx.openedAt < SILENCE_MS;
    if (mayWait && isOpening && !(await hasWorkers(db))) return;
    throw new ApiError(
      'source_workspace_unavailable',
      'No worker with a sandbox runs: nothing can be done until the operator has mended that.',
      {
        headers: retryHeaders(RETRY_SECONDS),
        ...(own && { cause: new Error(own.missing.join('; ')) }),
      },
    );
  }
  ctx.workerSeenAt = performance.now();
}
