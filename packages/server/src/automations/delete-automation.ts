import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { cancelQueued } from './cancel-queued.ts';
import { loadAutomation } from './policy.ts';
import { Automation } from './schemas.ts';
import { markAutomationsDeleted } from './store.ts';
import { automationView } from './view.ts';

export const deleteAutomation = write({
  name: 'automations.deleteAutomation',
  summary: 'Delete an automation and keep its threads',
  description: 'Queued executions are cancelled; running ones continue.',
  access: { permissions: ['automation:delete'] },
  capability: 'automations',
  responses: { 200: Ok({ automation: Automation }) },
  async handle(tx, call) {
    const { automation, scope } = await loadAutomation(tx.db, call, 'update');
    await cancelQueued(tx, { automation, scope });
    await markAutomationsDeleted(tx, [automation.id]);
    await audit(tx, call, 'automation.deleted', automation.id);
    return { status: 200, scope, body: { ok: true, automation: automationView(call.ctx, automation) } };
  },
});
