/**
 * Starts executions at scheduled times. Any number of processes may do this at once: a transaction locks due automations, creates
 * their executions, and moves them to their next time, so each time runs once even if a process dies. A look costs one
 * index read a second.
 */
import { sql } from 'kysely';
import { databaseNow } from '../clock.ts';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { mayBegin } from '../http/capabilities.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { admitAll } from './admit.ts';
import { readCron } from './cron.ts';
import { dueTimes } from './due-times.ts';
import type { Due } from './due-times.ts';
import { lockDue, setNextRuns } from './execution-store.ts';
import type { LockedAutomation } from './execution-store.ts';

const EVERY_MS = 1_000;
const BATCH = 200;

type Deps = Pick<Context, 'config' | 'db' | 'bus' | 'log' | 'clock' | 'shutdown'>;

export interface Scheduling {
  stop(): Promise<void>;
}

export function startScheduler(ctx: Deps, when?: When): Scheduling {
  let timer: NodeJS.Timeout | undefined;
  const loop = every(
    EVERY_MS,
    async () => {
      const { now, dueInMs } = await lookAhead(ctx);
      if (dueInMs === null || dueInMs > EVERY_MS) return;
      clearTimeout(timer);
      if (dueInMs > 0) timer = setTimeout(loop.runNow, dueInMs).unref();
      // One `now` for the round: what is late because of the round itself was not missed.
      else while (!ctx.shutdown.aborted && (await makeDue(ctx, now)) === BATCH);
    },
    {
      onFailure: (err) => ctx.log.error({ err }, 'the look for due schedules failed and is tried again'),
      until: ctx.shutdown,
      when,
    },
  );
  const unlisten = ctx.bus.listen('schedules', loop.runNow);
  loop.runNow();
  return {
    async stop() {
      unlisten();
      clearTimeout(timer);
      await loop.stop();
    },
  };
}

/** The time, and the delay until the next automation is due. */
async function lookAhead(ctx: Deps): Promise<{ now: Date; dueInMs: number | null }> {
  const { rows } = await sql<{ now: Date; next: Date | null }>`
    select ${databaseNow(ctx)} as now, (select min(next_run_at) from automations where next_run_at is not null) as next`.execute(
    ctx.db,
  );
  const { now, next } = rows[0]!;
  return { now, dueInMs: next && next.getTime() - now.getTime() };
}

/** Creates the executions of some automations that are due at `now`. Returns the number of automations. */
export function makeDue(ctx: Omit<Deps, 'shutdown'>, now: Date): Promise<number> {
  return transaction(ctx, async (tx) => {
    const locked = await lockDue(tx, now, BATCH);
    const due = locked.map((one) => ({ ...one, due: dueOf(ctx, one, now) }));
    await setNextRuns(
      tx,
      due.map(({ automation: { id }, due: { next } }) => ({ id, next })),
    );
    const orgs = await allowedOrgs(ctx, tx, locked);
    await admitAll(
      tx,
      due
        .filter(({ automation }) => orgs.has(automation.org_id))
        .flatMap(({ due: { times }, ...one }) =>
          times.map((scheduledFor) => ({ ...one, trigger: { kind: 'schedule' as const, scheduledFor } })),
        ),
    );
    return locked.length;
  });
}

function dueOf(ctx: Pick<Context, 'log'>, { automation }: LockedAutomation, now: Date): Due {
  const { trigger, next_run_at: from, catch_up: catchUp } = automation;
  try {
    if (trigger.kind !== 'schedule') throw new TypeError('it has no schedule');
    return dueTimes(readCron(trigger), { from: from!, now, catchUp });
  } catch (err) {
    // The database of time zones may drop a zone: the rest of the batch continues.
    ctx.log.error(
      { err, automation: automation.id },
      'a schedule can no longer be read; it gets no further times',
    );
    return { times: [], next: null };
  }
}

/** Times of organizations without the capability are skipped. */
async function allowedOrgs(
  { config }: Pick<Context, 'config'>,
  tx: Tx,
  locked: readonly LockedAutomation[],
): Promise<Set<string>> {
  const orgs = new Set<string>();
  for (const orgId of new Set(locked.map(({ automation }) => automation.org_id)))
    if (await mayBegin({ config, db: tx.db }, orgId, 'automations')) orgs.add(orgId);
  return orgs;
}
