/**
 * Sums each hour's runs once, when none of them can change any more: an hour after it ended, when no run that
 * began in it is open, nor a call of a model for one.
 */
import type { Context } from '../context.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { closeHour, hoursToClose } from './store.ts';

const ROUND_MS = 5 * 60_000;

/** Starts closing hours, until the process stops. */
export function keepHoursClosed(ctx: Context, when: When): void {
  every(ROUND_MS, () => closeHours(ctx), {
    when,
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.warn({ err }, 'hours of usage were not summed; they are in five minutes'),
  });
}

/** Closes the hours of the last week that are due. Those of before, if any, are summed by each read. */
export async function closeHours({ db, shutdown }: Pick<Context, 'db' | 'shutdown'>): Promise<void> {
  for (const { orgId, hour } of await hoursToClose(db)) {
    if (shutdown.aborted) return;
    await closeHour(db, orgId, hour);
  }
}
