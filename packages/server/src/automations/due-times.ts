import type { Cron } from './cron.ts';
import { nextTimes } from './cron.ts';

/** A time that is later than this was missed: no process made it. */
const MISSED_MS = 5_000;
const CATCH_UP_MS = 24 * 60 * 60 * 1_000;
const AT_ONCE = 32;

export interface Due {
  /** The times that make an execution now, the oldest first. */
  times: Date[];
  /** The first time after now; null where there is none. */
  next: Date | null;
}

/**
 * What is due of a schedule whose next time was `from`. Each time that is hardly late is made; of those that were
 * missed only the newest of the last 24 hours, and only with `catchUp`.
 */
export function dueTimes(
  cron: Cron,
  { from, now, catchUp }: { from: Date; now: Date; catchUp: boolean },
): Due {
  const oldest = now.getTime() - CATCH_UP_MS;
  const over = from.getTime() >= oldest ? [from] : [];
  let next: Date | null = null;
  for (let after = Math.max(from.getTime(), oldest), isOver = false; !isOver;) {
    const times = nextTimes(cron, new Date(after), AT_ONCE);
    const due = times.filter((time) => time <= now);
    over.push(...due);
    next = times[due.length] ?? null;
    isOver = due.length < AT_ONCE;
    after = times.at(-1)?.getTime() ?? after;
  }
  const isMissed = (time: Date) => now.getTime() - time.getTime() > MISSED_MS;
  const missed = over.filter(isMissed).slice(-1);
  return { times: [...(catchUp ? missed : []), ...over.filter((time) => !isMissed(time))], next };
}
