import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Enum, ListQuery, Page } from '../http/schemas.ts';
import { loadAutomation } from './policy.ts';
import { Execution, EXECUTION_STATUSES } from './schemas.ts';
import { listExecutions as findExecutions } from './store.ts';
import { executionView } from './view.ts';

export const listExecutions = read({
  name: 'automations.listExecutions',
  summary: 'List the executions of an automation, newest first',
  description: 'Executions are kept for 90 days.',
  access: { permissions: ['automation:read'] },
  capability: 'automations',
  query: ListQuery({ status: Type.Optional(Enum(EXECUTION_STATUSES)) }),
  responses: { 200: Page('executions', Execution) },
  async handle(call) {
    const { ctx, query } = call;
    const { automation } = await loadAutomation(ctx.db, call);
    const filter = { automationId: automation.id, status: query.status };
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['executions', automation.id, query.status ?? null] },
      (after, limit) => findExecutions(ctx.db, filter, after, limit),
      ({ id }) => id,
    );
    return { status: 200, body: { ok: true, executions: rows.map(executionView), ...rest } };
  },
});
