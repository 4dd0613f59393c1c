import { addDays } from './dates.js';
import { nextOpenDay } from './opening-hours.js';

// A tool that came back is kept for the first in line, but not for ever: after this
// many days the next one gets it.
export const HOLD_DAYS = 3;

/** Entries that still wait or hold, in the order in which they joined. */
export function queueOf(entries) {
  return entries
    .filter((entry) => entry.status === 'waiting' || entry.status === 'held')
    .sort((a, b) => a.place - b.place);
}

/** 1 for the first in line; 0 when the member is not in the line. */
export function positionOf(entries, memberId) {
  return queueOf(entries).findIndex((entry) => entry.memberId === memberId) + 1;
}

/** The last day on which a held tool can be picked up; it is an open day. */
export function holdUntil(hours, day) {
  return nextOpenDay(hours, addDays(day, HOLD_DAYS));
}

/**
 * What must change in a line on `today` while the tool is on the shelf: holds that ran
 * out lapse, and the first who waits gets a hold. Returns patches by entry id.
 */
export function advanceQueue(entries, hours, today) {
  const patches = new Map();
  let held = false;
  for (const entry of queueOf(entries)) {
    if (entry.status === 'held' && entry.holdUntil < today) patches.set(entry.id, { status: 'lapsed' });
    else if (!held && entry.status === 'held') held = true;
    else if (!held) {
      patches.set(entry.id, { status: 'held', holdUntil: holdUntil(hours, today) });
      held = true;
    }
  }
  return patches;
}
