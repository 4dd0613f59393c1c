import { addDays, daysBetween, rangesOverlap } from './dates.js';
import { isActive } from './loan-rules.js';

export const MAX_RESERVATION_DAYS = 14;
export const MAX_DAYS_AHEAD = 90;

export function isPending(reservation) {
  return reservation.status === 'pending';
}

/** Ranges in which a tool is taken: its active loan until due, and pending reservations. */
export function takenRanges(loans, reservations) {
  const fromLoans = loans.filter(isActive).map((loan) => ({ from: loan.out, to: loan.due, kind: 'loan' }));
  const fromReservations = reservations
    .filter(isPending)
    .map(({ from, to }) => ({ from, to, kind: 'reservation' }));
  return [...fromLoans, ...fromReservations].sort((a, b) => (a.from < b.from ? -1 : 1));
}

/** Why a tool may not be reserved for `range`, as translation keys; empty means allowed. */
export function reasonsAgainstReservation({ range, taken, pendingCount, maxReservations, today }) {
  const reasons = [];
  if (range.to < range.from) reasons.push('rule.rangeBackwards');
  else if (daysBetween(range.from, range.to) >= MAX_RESERVATION_DAYS) reasons.push('rule.rangeTooLong');
  if (range.from <= today) reasons.push('rule.rangeInPast');
  if (range.from > addDays(today, MAX_DAYS_AHEAD)) reasons.push('rule.rangeTooFar');
  if (taken.some((other) => rangesOverlap(range, other))) reasons.push('rule.rangeTaken');
  if (pendingCount >= maxReservations) reasons.push('rule.tooManyReservations');
  return reasons;
}
