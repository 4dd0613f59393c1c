import { addDays, daysBetween } from './dates.js';
import { limitsOf } from './plans.js';
import { nextOpenDay } from './opening-hours.js';
import { DEBT_LIMIT_CENTS } from './fines.js';

export const MAX_RENEWALS = 2;
export const DEFAULT_LOAN_DAYS = 7;

/** A loan is active until its tool is back on the shelf. */
export function isActive(loan) {
  return loan.returned === null;
}

export function isOverdue(loan, today) {
  return isActive(loan) && loan.due < today;
}

/** Days past due on `today`, or at return; 0 when in time. */
export function daysLate(loan, today) {
  return Math.max(0, daysBetween(loan.due, loan.returned ?? today));
}

/** The due day of a loan that starts on `day`: never on a day when the desk is closed. */
export function dueDay(category, hours, day) {
  return nextOpenDay(hours, addDays(day, category?.loanDays ?? DEFAULT_LOAN_DAYS));
}

/**
 * Why a member may not borrow a tool now, as translation keys; empty means allowed.
 * All reasons are returned, so that the desk can settle them in one visit.
 */
export function reasonsAgainstLoan({ member, tool, memberLoans, debtCents, claim, today }) {
  const active = memberLoans.filter(isActive);
  const reasons = [];
  if (tool.condition !== 'good') reasons.push('rule.toolNotUsable');
  if (active.length >= limitsOf(member).maxLoans) reasons.push('rule.tooManyLoans');
  if (active.some((loan) => isOverdue(loan, today))) reasons.push('rule.hasOverdue');
  if (debtCents > DEBT_LIMIT_CENTS) reasons.push('rule.tooMuchDebt');
  if (claim && claim.memberId !== member.id) reasons.push('rule.claimedByOther');
  return reasons;
}

/** Why a loan may not be renewed, as translation keys; empty means allowed. */
export function reasonsAgainstRenewal({ loan, someoneWaits, reservedSoon, today }) {
  const reasons = [];
  if (!isActive(loan)) reasons.push('rule.alreadyReturned');
  if (isOverdue(loan, today)) reasons.push('rule.renewOverdue');
  if (loan.renewals >= MAX_RENEWALS) reasons.push('rule.noRenewalsLeft');
  if (someoneWaits) reasons.push('rule.someoneWaits');
  if (reservedSoon) reasons.push('rule.reservedSoon');
  return reasons;
}
