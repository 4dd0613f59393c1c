import { write } from '../http/operation.ts';
import { Body } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { changeThread, lockThread } from '../threads/index.ts';
import { deadlineIn } from './idle.ts';
import { IdleMinutes, policyView, WorkspacePolicy } from './policy-view.ts';

export const reportActivity = write({
  name: 'workspaces.reportActivity',
  summary: 'Report activity: a fresh idle interval of 1 to 60 minutes',
  description: 'Each new Idempotency-Key renews the deadline; a replay does not.',
  access: { permissions: ['thread:update'] },
  body: Body({ idleTimeoutMinutes: IdleMinutes }),
  responses: { 200: WorkspacePolicy },
  async handle(tx, call) {
    const loaded = await lockThread(tx, call);
    const minutes = call.body.idleTimeoutMinutes;
    const thread = await changeThread(tx, loaded, {
      idle_timeout_minutes: minutes,
      ...(loaded.thread.execution_target ? {} : { idle_expires_at: deadlineIn(call.ctx, minutes) }),
    });
    return { status: 200, body: policyView(thread), scope: scopeOf(loaded.project) };
  },
});
