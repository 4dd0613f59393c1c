import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { setVariable } from './change-level.ts';
import { lockOrganizationLevel } from './policy.ts';
import { NewVariable, Variable } from './schemas.ts';

export const setOrganizationVariable = write({
  name: 'environment.setOrganizationVariable',
  summary: 'Set an environment variable of the organization',
  description:
    'Sandboxes that start from now on have it, in all apps without a variable of its name. The variable becomes just what is sent, whatever it was before. A value is stored encrypted.',
  access: { session: 'admin' },
  body: NewVariable,
  responses: { 200: Ok({ variable: Variable }) },
  handle: async (tx, call) => setVariable(tx, call, await lockOrganizationLevel(tx, call.principal)),
});
