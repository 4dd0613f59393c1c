import { idleTools, lendingTrend, loanLengths, overdueLoans, popularTools, summary } from '../services/reports.js';

const IDLE_DAYS = 60;

function show(_request, ctx) {
  const today = ctx.today();
  const { store } = ctx;
  return {
    status: 200,
    body: {
      summary: summary(store, today),
      popular: popularTools(store),
      idle: idleTools(store, today, IDLE_DAYS).map(({ id, name }) => ({ id, name })),
      trend: lendingTrend(store, today),
      lengths: loanLengths(store),
      overdue: overdueLoans(store, today),
    },
  };
}

export const routes = [{ method: 'GET', path: '/api/reports', allow: 'staff', handle: show }];
