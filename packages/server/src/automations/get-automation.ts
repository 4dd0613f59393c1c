import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadAutomation } from './policy.ts';
import { Automation } from './schemas.ts';
import { automationView } from './view.ts';

export const getAutomation = read({
  name: 'automations.getAutomation',
  summary: 'Get an automation',
  access: { permissions: ['automation:read'] },
  capability: 'automations',
  responses: { 200: Ok({ automation: Automation }) },
  async handle(call) {
    const { automation } = await loadAutomation(call.ctx.db, call);
    return { status: 200, body: { ok: true, automation: automationView(call.ctx, automation) } };
  },
});
