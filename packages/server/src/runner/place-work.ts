/**
 * Which runner of the fleet new work begins at. A place is one of a runner's capacity: a thread with a job, or a
 * build, setup or preview. Its holder is named by the key of its jobs, which run one at a time, and gives it back
 * when its job has ended.
 */
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { atRunner } from './at-runner.ts';
import { chooseRunner } from './choose.ts';
import { drawCandidates, freePlace, isUsableRunner, keepPlaceAt, ROOM, takePlaceAt } from './store.ts';

interface Need {
  /** The key of the work's jobs. */
  holder: string;
  projectId: string;
  /** The runner that it was at, or that has what it needs: the first choice. */
  near: string | null;
}

/** Why work begins nowhere now. */
export type Unplaced = 'no room' | 'suspect';

/** Others may take the last place between the look and the update. */
const RIVALS = 5;
/** Only a fallback: a place that gets free makes a waiting job due. */
const WAIT_SECONDS = 10;
/** Work that had begun goes on after so long, room or not: others must not keep it waiting for ever. */
const RETURN_MS = 30_000;
/** Whoever is suspect is ready again, or lost, within 20 s. */
const SUSPECT_SECONDS = 1;

/**
 * Takes a place, and returns the context of work there. `no room`: no runner has any; `suspect`: the one that
 * it was at has been silent for some seconds. Then nothing is taken, and the work waits (`awaitRoom`). Without a
 * fleet the work is at this host's runner.
 */
export async function placeWork(ctx: Context, need: Need): Promise<Context | Unplaced> {
  if (!ctx.fleet) return ctx;
  const { holder, projectId, near } = need;
  if (near !== null) {
    if (await takePlaceAt(ctx.db, holder, near)) return atRunner(ctx, near);
    if ((await ctx.fleet.findNow(near)).state() === 'suspect') return 'suspect';
  }
  for (let rivals = 0; rivals < RIVALS; rivals++) {
    const candidates = await drawCandidates(ctx.db, { holder, pool: ctx.fleet.pool, projectId });
    const chosen = candidates.find((one) => one.holds) ?? chooseRunner(candidates);
    if (!chosen) return 'no room';
    if (await takePlaceAt(ctx.db, holder, chosen.boot_id)) return atRunner(ctx, chosen.boot_id);
  }
  return 'no room';
}

/** The context of work that is at a runner already, which keeps its place there. */
export async function stayAt(ctx: Context, holder: string, runnerId: string | null): Promise<Context> {
  if (!ctx.fleet || runnerId === null) return ctx;
  await keepPlaceAt(ctx.db, holder, runnerId);
  return atRunner(ctx, runnerId);
}

/**
 * Takes a place again for work that gave its own back while it waited, at the runner where it is; false where that has
 * no room now. One that takes nothing new has what it has, so the work goes on there in any case. `askedMs`: since it
 * asked first.
 */
export async function returnToPlace(ctx: Context, holder: string, askedMs: number): Promise<boolean> {
  const { fleet, at } = ctx;
  if (!fleet || !at || (await takePlaceAt(ctx.db, holder, at.id))) return true;
  if (askedMs < RETURN_MS && (await isUsableRunner(ctx.db, at.id))) return false;
  await keepPlaceAt(ctx.db, holder, at.id);
  return true;
}

/** Gives the place back. */
export async function freeWork(ctx: Context, holder: string): Promise<void> {
  if (ctx.fleet) await transaction(ctx, (tx) => freePlace(tx, holder));
}

/**
 * Gives the place back at the end of a job, unless another attempt goes on with the work. What is not given back is
 * found: nothing depends on it.
 */
export async function freeAfter(ctx: Context, job: Pick<Job, 'signal'>, holder: string): Promise<void> {
  if (!ctx.fleet || job.signal.aborted) return;
  await transaction(ctx, (tx) => freePlace(tx, holder)).catch((err: unknown) =>
    ctx.log.debug({ err, holder }, 'a place at a runner was not given back'),
  );
}

/** Puts the job off until there is room. Its handler returns afterwards. */
export async function awaitRoom(tx: Tx, job: Pick<Job, 'putOff'>, why: Unplaced): Promise<void> {
  if (why === 'no room') return job.putOff(tx, ROOM, WAIT_SECONDS);
  await job.putOff(tx, 'suspect runner', SUSPECT_SECONDS);
}
