import { availabilityOf, backOn } from '../shared/availability.js';
import { daysLate, isOverdue } from '../shared/loan-rules.js';
import { debtOf } from '../shared/fines.js';
import { queueOf } from '../shared/waiting-list.js';
import { ofMember, ofTool } from './services/queries.js';

// Records as a client sees them. Joins are made here, once: pages hold no lookup tables.

export function toolView(ctx, tool) {
  const { store } = ctx;
  const loans = ofTool(store.loans, tool.id);
  const reservations = ofTool(store.reservations, tool.id);
  const waiting = ofTool(store.waiting, tool.id);
  return {
    ...tool,
    availability: availabilityOf({ tool, loans, reservations, waiting, today: ctx.today() }),
    backOn: backOn(loans),
    waitingCount: queueOf(waiting).length,
  };
}

export function loanView(ctx, loan) {
  const { store } = ctx;
  const today = ctx.today();
  return {
    ...loan,
    toolName: store.tools.get(loan.toolId)?.name ?? loan.toolId,
    memberName: store.members.get(loan.memberId)?.name ?? loan.memberId,
    overdue: isOverdue(loan, today),
    daysLate: daysLate(loan, today),
  };
}

/** A member without credentials. */
export function memberView(ctx, member) {
  const { passwordHash, ...visible } = member;
  const active = ofMember(ctx.store.loans, member.id).filter((loan) => loan.returned === null);
  return { ...visible, activeLoans: active.length, debtCents: debtOf(ofMember(ctx.store.fines, member.id)) };
}

/** A reservation, waiting entry or fine with the names that a page shows. */
export function namedView(ctx, record) {
  const toolId = record.toolId ?? ctx.store.loans.get(record.loanId)?.toolId;
  return {
    ...record,
    toolName: ctx.store.tools.get(toolId)?.name ?? '',
    memberName: ctx.store.members.get(record.memberId)?.name ?? record.memberId,
  };
}
