import { levelOfApp } from '../environment/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { deleteSkill } from './change-level.ts';
import { Skill } from './schemas.ts';

export const deleteAppSkill = write({
  name: 'skills.deleteAppSkill',
  summary: 'Delete a skill of an app',
  description: 'Runs under way keep it.',
  access: { permissions: ['project:update'] },
  responses: { 200: Ok({ skill: Skill }) },
  handle: async (tx, call) => deleteSkill(tx, call, await levelOfApp(tx.db, call, 'update')),
});
