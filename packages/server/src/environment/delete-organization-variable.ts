import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { deleteVariable } from './change-level.ts';
import { lockOrganizationLevel } from './policy.ts';
import { Variable } from './schemas.ts';

export const deleteOrganizationVariable = write({
  name: 'environment.deleteOrganizationVariable',
  summary: 'Delete an environment variable of the organization',
  description: 'Sandboxes that have it keep it for their life.',
  access: { session: 'admin' },
  responses: { 200: Ok({ variable: Variable }) },
  handle: async (tx, call) => deleteVariable(tx, call, await lockOrganizationLevel(tx, call.principal)),
});
