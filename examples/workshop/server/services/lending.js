import { dueDay, isActive, reasonsAgainstLoan, reasonsAgainstRenewal } from '../../shared/loan-rules.js';
import { addDays, rangesOverlap } from '../../shared/dates.js';
import { debtOf, lateFineCents } from '../../shared/fines.js';
import { isPending } from '../../shared/reservation-rules.js';
import { queueOf } from '../../shared/waiting-list.js';
import { refused } from '../errors.js';
import { claimOn, hoursOf, ofTool } from './queries.js';
import { advanceLine } from './waiting.js';

/** Hands a tool out. Throws 409 with every rule that speaks against it. */
export function lend(ctx, tool, member) {
  const { store } = ctx;
  const today = ctx.today();
  return store.transaction(() => {
    advanceLine(ctx, tool.id);
    const claim = claimOn(store, tool.id, today);
    const reasons = reasonsAgainstLoan({
      member,
      tool,
      memberLoans: store.loans.where((loan) => loan.memberId === member.id),
      debtCents: debtOf(store.fines.where((fine) => fine.memberId === member.id)),
      claim,
      today,
    });
    if (ofTool(store.loans, tool.id).some(isActive)) reasons.push('rule.alreadyLent');
    if (reasons.length > 0) throw refused(reasons);
    if (claim) fulfil(store, claim);
    const due = dueDay(store.categories.get(tool.category), hoursOf(store), today);
    return store.loans.insert({ toolId: tool.id, memberId: member.id, out: today, due, returned: null, renewals: 0 });
  });
}

function fulfil(store, claim) {
  if (claim.kind === 'hold') store.waiting.update(claim.id, { status: 'done' });
  else store.reservations.update(claim.id, { status: 'fulfilled' });
}

/** Takes a tool back: closes the loan, fines what is late and calls the next in line. */
export function takeBack(ctx, loan) {
  const { store } = ctx;
  const today = ctx.today();
  if (!isActive(loan)) throw refused(['rule.alreadyReturned']);
  return store.transaction(() => {
    const returned = store.loans.update(loan.id, { returned: today });
    const cents = lateFineCents(loan, hoursOf(store), today);
    const fine = cents === 0 ? null : store.fines.insert({
      memberId: loan.memberId, loanId: loan.id, cents, reason: 'late', created: today, settled: null, outcome: null,
    });
    advanceLine(ctx, loan.toolId);
    return { loan: returned, fine };
  });
}

/** Extends a loan by its category's period, counted from the due day. */
export function renew(ctx, loan) {
  const { store } = ctx;
  const today = ctx.today();
  const tool = store.tools.get(loan.toolId);
  const due = dueDay(store.categories.get(tool.category), hoursOf(store), loan.due);
  const extension = { from: addDays(loan.due, 1), to: due };
  const reasons = reasonsAgainstRenewal({
    loan,
    someoneWaits: queueOf(ofTool(store.waiting, loan.toolId)).length > 0,
    reservedSoon: ofTool(store.reservations, loan.toolId).some((one) => isPending(one) && rangesOverlap(one, extension)),
    today,
  });
  if (reasons.length > 0) throw refused(reasons);
  return store.transaction(() => store.loans.update(loan.id, { due, renewals: loan.renewals + 1 }));
}
