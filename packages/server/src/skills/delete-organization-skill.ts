import { lockOrganizationLevel } from '../environment/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { deleteSkill } from './change-level.ts';
import { Skill } from './schemas.ts';

export const deleteOrganizationSkill = write({
  name: 'skills.deleteOrganizationSkill',
  summary: 'Delete a skill of the organization',
  description: 'Runs under way keep it.',
  access: { session: 'admin' },
  responses: { 200: Ok({ skill: Skill }) },
  handle: async (tx, call) => deleteSkill(tx, call, await lockOrganizationLevel(tx, call.principal)),
});
