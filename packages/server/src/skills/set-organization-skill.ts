import { levelOfOrganization, lockOrganizationLevel } from '../environment/index.ts';
import { claimedWrite } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { prepareSkill, setSkill } from './change-level.ts';
import { NewSkill, Skill } from './schemas.ts';

export const setOrganizationSkill = claimedWrite({
  name: 'skills.setOrganizationSkill',
  summary: 'Set a skill of the organization',
  description:
    "Agents of runs that begin from now on have it. It becomes just the files that are sent, whatever it was before. Apps with a skill of its name have their own. `SKILL.md` begins with front matter (YAML) that has the skill's `name` and a `description` of 1 to 1,024 characters.",
  access: { session: 'admin' },
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
        find: (call) => Promise.resolve(levelOfOrganization(call.principal)),
        lock: (tx, call) => lockOrganizationLevel(tx, call.principal),
      },
    }),
});
