import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { pageOfLevel } from './page-of-level.ts';
import { levelOfOrganization } from './policy.ts';
import { Variable } from './schemas.ts';

export const listOrganizationVariables = read({
  name: 'environment.listOrganizationVariables',
  summary: "List the organization's environment variables, by name",
  description: 'Its apps have them, too, where they have none of that name.',
  access: { session: 'admin' },
  query: ListQuery(),
  responses: { 200: Page('variables', Variable) },
  handle: (call) => pageOfLevel(call, levelOfOrganization(call.principal)),
});
