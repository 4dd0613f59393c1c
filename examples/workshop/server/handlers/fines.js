import { debtOf } from '../../shared/fines.js';
import { damageSchema } from '../../shared/schemas.js';
import { maySee } from '../../shared/roles.js';
import { refused } from '../errors.js';
import { find, pageOf, read } from '../input.js';
import { namedView } from '../views.js';

function list(request, ctx) {
  const open = ctx.store.fines.where((fine) => fine.settled === null && maySee(request.member, fine.memberId));
  const page = pageOf(open.map((fine) => namedView(ctx, fine)), request.query);
  return { status: 200, body: { ...page, openCents: debtOf(open) } };
}

function charge(request, ctx) {
  const { loanId, cents } = read(damageSchema, request.body);
  const loan = find(ctx.store.loans, loanId);
  const fine = ctx.store.transaction(() => ctx.store.fines.insert({
    memberId: loan.memberId, loanId, cents, reason: 'damage', created: ctx.today(), settled: null, outcome: null,
  }));
  return { status: 201, body: namedView(ctx, fine) };
}

// A settled fine stays in the books: `outcome` says whether it was paid or waived.
function settle(outcome) {
  return (request, ctx) => {
    const fine = find(ctx.store.fines, request.params.id);
    if (fine.settled !== null) throw refused(['rule.alreadySettled']);
    const settled = ctx.store.transaction(() => ctx.store.fines.update(fine.id, { settled: ctx.today(), outcome }));
    return { status: 200, body: namedView(ctx, settled) };
  };
}

export const routes = [
  { method: 'GET', path: '/api/fines', allow: 'member', handle: list },
  { method: 'POST', path: '/api/fines', allow: 'staff', handle: charge },
  { method: 'POST', path: '/api/fines/:id/pay', allow: 'staff', handle: settle('paid') },
  { method: 'POST', path: '/api/fines/:id/waive', allow: 'staff', handle: settle('waived') },
];
