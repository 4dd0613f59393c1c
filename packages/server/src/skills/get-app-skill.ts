import { levelOfApp } from '../environment/index.ts';
import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadSkill } from './policy.ts';
import { Skill } from './schemas.ts';
import { skillView } from './view.ts';

export const getAppSkill = read({
  name: 'skills.getAppSkill',
  summary: 'Get a skill of an app',
  access: { permissions: ['project:read'] },
  responses: { 200: Ok({ skill: Skill }) },
  async handle(call) {
    const row = await loadSkill(call.ctx.db, await levelOfApp(call.ctx.db, call), call.params.name!);
    return { status: 200, body: { ok: true, skill: skillView(row) } };
  },
});
