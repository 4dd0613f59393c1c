import type { Cron } from './cron.ts';
import { nextTimes } from './cron.ts';

/** A time that is later than this was missed. */
const MISSED_MS = 5_000;
const CATCH_UP_MS = 24 * 60 * 60 * 1_000;
/** Usually one time follows, and it is in the future; the more follow, the more are read at once. */
const MOST_AT_ONCE = 64;

export interface Due {
  /** The times that start an execution now, oldest first. */
  times: Date[];
  /** The first time after now; null if none is left. */
  next: Date | null;
}

/**
 * The due times of a schedule whose next time was `from`. Each time within the tolerance counts; of the missed ones
 * only the newest of the last 24 hours, and only with `catchUp`.
 */
export function dueTimes(
  cron: Cron,
  { from, now, catchUp }: { from: Date; now: Date; catchUp: boolean },
): Due {
  const oldest = now.getTime() - CATCH_UP_MS;
  const over = from.getTime() >= oldest ? [from] : [];
  let next: Date | null = null;
  for (let after = Math.max(from.getTime(), oldest), count = 1, isOver = false; !isOver; count *= 2) {
    const times = nextTimes(cron, new Date(after), Math.min(count, MOST_AT_ONCE));
    const due = times.filter((time) => time <= now);
    over.push(...due);
    next = times[due.length] ?? null;
    isOver = next !== null || times.length === 0;
    after = times.at(-1)?.getTime() ?? after;
  }
  const isMissed = (time: Date) => now.getTime() - time.getTime() > MISSED_MS;
  const missed = over.filter(isMissed).slice(-1);
  return { times: [...(catchUp ? missed : []), ...over.filter((time) => !isMissed(time))], next };
}
