import { levelOfOrganization } from '../environment/index.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { pageOfLevel } from './page-of-level.ts';
import { Skill } from './schemas.ts';

export const listOrganizationSkills = read({
  name: 'skills.listOrganizationSkills',
  summary: "List the organization's skills, by name",
  description: 'Runs of all its apps have them, too, where the app has none of that name.',
  access: { session: 'admin' },
  query: ListQuery(),
  responses: { 200: Page('skills', Skill) },
  handle: (call) => pageOfLevel(call, levelOfOrganization(call.principal)),
});
