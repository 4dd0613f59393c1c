import { levelOfApp } from '../environment/index.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { pageOfLevel } from './page-of-level.ts';
import { Skill } from './schemas.ts';

export const listAppSkills = read({
  name: 'skills.listAppSkills',
  summary: "List an app's skills, by name",
  description: 'Its own: runs have those of the organization, too, where the app has none of that name.',
  access: { permissions: ['project:read'] },
  query: ListQuery(),
  responses: { 200: Page('skills', Skill) },
  handle: async (call) => pageOfLevel(call, await levelOfApp(call.ctx.db, call)),
});
