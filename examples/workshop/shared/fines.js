import { openDaysAfter } from './opening-hours.js';
import { sumCents } from './money.js';

export const CENTS_PER_LATE_DAY = 50;
export const LATE_FINE_CAP_CENTS = 2500;
export const DEBT_LIMIT_CENTS = 1500;

/**
 * The fine of a loan that is returned on `day`, in cents. Only open days count: nobody
 * pays for a day on which they could not have brought the tool back.
 */
export function lateFineCents(loan, hours, day) {
  const days = openDaysAfter(hours, loan.due, day);
  return Math.min(LATE_FINE_CAP_CENTS, days * CENTS_PER_LATE_DAY);
}

/** What a member owes: the sum of fines that are neither paid nor waived. */
export function debtOf(fines) {
  return sumCents(fines.filter((fine) => fine.settled === null).map((fine) => fine.cents));
}
