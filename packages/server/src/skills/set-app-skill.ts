import { levelOfApp } from '../environment/index.ts';
import { claimedWrite } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { prepareSkill, setSkill } from './change-level.ts';
import { NewSkill, Skill } from './schemas.ts';

export const setAppSkill = claimedWrite({
  name: 'skills.setAppSkill',
  summary: 'Set a skill of an app',
  description:
    "Agents of runs that begin from now on have it. It becomes just the files that are sent, whatever it was before. It hides the organization's skill of its name. `SKILL.md` begins with front matter (YAML) that has the skill's `name` and a `description` of 1 to 1,024 characters.",
  access: { permissions: ['project:update'] },
  body: NewSkill,
  rawBody: ['application/json'],
  responses: { 200: Ok({ skill: Skill }) },
  mode: 'staged',
  publishesPending: false,
  prepare: prepareSkill,
  handle: (call, claim, skill) =>
    setSkill(call, claim, {
      skill,
      levelOf: {
        find: (call) => levelOfApp(call.ctx.db, call),
        lock: (tx, call) => levelOfApp(tx.db, call, 'update'),
      },
    }),
});
