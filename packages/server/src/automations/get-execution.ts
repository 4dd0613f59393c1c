import { read } from '../http/operation.ts';
import { Ok, WaitQuery } from '../http/schemas.ts';
import { waitFor } from '../http/wait-for.ts';
import { loadAutomation, loadExecution } from './policy.ts';
import { ExecutionWithPayload } from './schemas.ts';
import { executionView } from './view.ts';

export const getExecution = read({
  name: 'automations.getExecution',
  summary: 'Get an execution; waitSeconds waits for its end',
  access: { permissions: ['automation:read'] },
  capability: 'automations',
  query: WaitQuery,
  responses: { 200: Ok({ execution: ExecutionWithPayload }) },
  async handle(call) {
    const { ctx, params, query, signal } = call;
    const { automation } = await loadAutomation(ctx.db, call);
    const execution = await waitFor(
      {
        bus: ctx.bus,
        on: { channel: 'resources', id: params.executionId! },
        waitSeconds: query.waitSeconds,
        signal,
      },
      () => loadExecution(ctx.db, automation.id, params.executionId!),
      ({ finished_at: finishedAt }) => finishedAt !== null,
    );
    const shown = { ...executionView(execution), payload: execution.payload };
    return { status: 200, body: { ok: true, execution: shown } };
  },
});
