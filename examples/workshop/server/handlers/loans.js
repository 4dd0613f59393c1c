import { isActive, isOverdue } from '../../shared/loan-rules.js';
import { loanSchema } from '../../shared/schemas.js';
import { maySee } from '../../shared/roles.js';
import { notFound } from '../errors.js';
import { find, pageOf, read } from '../input.js';
import { lend, renew, takeBack } from '../services/lending.js';
import { loanView, namedView } from '../views.js';

const FILTERS = {
  active: (loan) => isActive(loan),
  overdue: (loan, today) => isOverdue(loan, today),
  returned: (loan) => !isActive(loan),
};

function list(request, ctx) {
  const keep = FILTERS[request.query.get('show')] ?? FILTERS.active;
  const loans = ctx.store.loans
    .where((loan) => maySee(request.member, loan.memberId) && keep(loan, ctx.today()))
    .sort((a, b) => (a.due < b.due ? -1 : 1));
  return { status: 200, body: pageOf(loans.map((loan) => loanView(ctx, loan)), request.query) };
}

function handOut(request, ctx) {
  const { toolId, memberId } = read(loanSchema, request.body);
  const loan = lend(ctx, find(ctx.store.tools, toolId), find(ctx.store.members, memberId));
  return { status: 201, body: loanView(ctx, loan) };
}

function bringBack(request, ctx) {
  const { loan, fine } = takeBack(ctx, find(ctx.store.loans, request.params.id));
  return { status: 200, body: { loan: loanView(ctx, loan), fine: fine && namedView(ctx, fine) } };
}

function extend(request, ctx) {
  const loan = find(ctx.store.loans, request.params.id);
  if (!maySee(request.member, loan.memberId)) throw notFound();
  return { status: 200, body: loanView(ctx, renew(ctx, loan)) };
}

export const routes = [
  { method: 'GET', path: '/api/loans', allow: 'member', handle: list },
  { method: 'POST', path: '/api/loans', allow: 'staff', handle: handOut },
  { method: 'POST', path: '/api/loans/:id/return', allow: 'staff', handle: bringBack },
  { method: 'POST', path: '/api/loans/:id/renew', allow: 'member', handle: extend },
];
