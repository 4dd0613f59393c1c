import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { setVariable } from './change-level.ts';
import { levelOfApp } from './policy.ts';
import { NewVariable, Variable } from './schemas.ts';

export const setAppVariable = write({
  name: 'environment.setAppVariable',
  summary: 'Set an environment variable of an app',
  description:
    "Sandboxes that start from now on have it. It hides the organization's variable of its name, whatever the targets of either. The variable becomes just what is sent, whatever it was before. A value is stored encrypted.",
  access: { permissions: ['project:update'] },
  body: NewVariable,
  responses: { 200: Ok({ variable: Variable }) },
  handle: async (tx, call) => setVariable(tx, call, await levelOfApp(tx.db, call, 'update')),
});
