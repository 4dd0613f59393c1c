import { levelOfOrganization } from '../environment/index.ts';
import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadSkill } from './policy.ts';
import { Skill } from './schemas.ts';
import { skillView } from './view.ts';

export const getOrganizationSkill = read({
  name: 'skills.getOrganizationSkill',
  summary: 'Get a skill of the organization',
  access: { session: 'admin' },
  responses: { 200: Ok({ skill: Skill }) },
  async handle(call) {
    const row = await loadSkill(call.ctx.db, levelOfOrganization(call.principal), call.params.name!);
    return { status: 200, body: { ok: true, skill: skillView(row) } };
  },
});
