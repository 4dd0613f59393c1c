import { plainAmount } from '../../shared/money.js';
import { notFound } from '../errors.js';
import { toCsv } from '../services/csv.js';
import { loanView, memberView, namedView, toolView } from '../views.js';

const EXPORTS = {
  tools: {
    columns: ['id', 'name', 'brand', 'category', 'shelf', 'value', 'condition', 'availability'],
    rows: (ctx) => ctx.store.tools.all().map((tool) => ({ ...toolView(ctx, tool), value: plainAmount(tool.valueCents) })),
  },
  members: {
    columns: ['id', 'name', 'email', 'plan', 'joined', 'activeLoans', 'debt'],
    rows: (ctx) => ctx.store.members.all().map((member) => {
      const view = memberView(ctx, member);
      return { ...view, debt: plainAmount(view.debtCents) };
    }),
  },
  loans: {
    columns: ['id', 'toolName', 'memberName', 'out', 'due', 'returned', 'renewals', 'daysLate'],
    rows: (ctx) => ctx.store.loans.all().map((loan) => loanView(ctx, loan)),
  },
  fines: {
    columns: ['id', 'memberName', 'toolName', 'amount', 'reason', 'created', 'settled', 'outcome'],
    rows: (ctx) => ctx.store.fines.all().map((fine) => ({ ...namedView(ctx, fine), amount: plainAmount(fine.cents) })),
  },
};

function download(request, ctx) {
  const { name } = request.params;
  if (!Object.hasOwn(EXPORTS, name)) throw notFound();
  const { columns, rows } = EXPORTS[name];
  return { status: 200, csv: toCsv(columns, rows(ctx)), filename: `${name}-${ctx.today()}.csv` };
}

export const routes = [{ method: 'GET', path: '/api/exports/:name', allow: 'staff', handle: download }];
