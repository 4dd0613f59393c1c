import { addDays, daysBetween, eachDay, monthOf } from '../../shared/dates.js';
import { debtOf } from '../../shared/fines.js';
import { daysLate, isActive, isOverdue } from '../../shared/loan-rules.js';
import { sumCents } from '../../shared/money.js';

const TOP_TOOLS = 8;
const TREND_DAYS = 28;

function countBy(records, keyOf) {
  const counts = new Map();
  for (const record of records) counts.set(keyOf(record), (counts.get(keyOf(record)) ?? 0) + 1);
  return counts;
}

/** The numbers at the top of the desk's screen. */
export function summary(store, today) {
  const loans = store.loans.all();
  return {
    tools: store.tools.where((tool) => tool.condition !== 'retired').length,
    members: store.members.count(),
    activeLoans: loans.filter(isActive).length,
    overdueLoans: loans.filter((loan) => isOverdue(loan, today)).length,
    openFinesCents: debtOf(store.fines.all()),
    stockValueCents: sumCents(store.tools.where((tool) => tool.condition !== 'retired').map((tool) => tool.valueCents)),
  };
}

/** The tools that are lent most, best first. */
export function popularTools(store) {
  return [...countBy(store.loans.all(), (loan) => loan.toolId)]
    .map(([toolId, loans]) => ({ toolId, name: store.tools.get(toolId)?.name ?? toolId, loans }))
    .sort((a, b) => b.loans - a.loans || (a.name < b.name ? -1 : 1))
    .slice(0, TOP_TOOLS);
}

/** Tools that nobody has borrowed for `days`: candidates for the flea market. */
export function idleTools(store, today, days) {
  const since = addDays(today, -days);
  const busy = new Set(store.loans.where((loan) => (loan.returned ?? today) >= since).map((loan) => loan.toolId));
  return store.tools.where((tool) => tool.condition === 'good' && !busy.has(tool.id));
}

/** Loans handed out per day over the last four weeks, oldest first, days without a loan included. */
export function lendingTrend(store, today) {
  const counts = countBy(store.loans.all(), (loan) => loan.out);
  return eachDay(addDays(today, 1 - TREND_DAYS), today).map((day) => ({ day, loans: counts.get(day) ?? 0 }));
}

/** Overdue loans, the latest first. */
export function overdueLoans(store, today) {
  return store.loans
    .where((loan) => isOverdue(loan, today))
    .map((loan) => ({
      ...loan,
      daysLate: daysLate(loan, today),
      toolName: store.tools.get(loan.toolId).name,
      memberName: store.members.get(loan.memberId).name,
    }))
    .sort((a, b) => b.daysLate - a.daysLate || (a.id < b.id ? -1 : 1));
}

/** Average days between hand-out and return, by month of return; only closed loans count. */
export function loanLengths(store) {
  const byMonth = Map.groupBy(store.loans.where((loan) => !isActive(loan)), (loan) => monthOf(loan.returned));
  return [...byMonth].sort(([a], [b]) => (a < b ? -1 : 1)).map(([month, loans]) => ({
    month,
    loans: loans.length,
    averageDays: Math.round((10 * loans.reduce((sum, loan) => sum + daysBetween(loan.out, loan.returned), 0)) / loans.length) / 10,
  }));
}
