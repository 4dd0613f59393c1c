import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { deleteVariable } from './change-level.ts';
import { levelOfApp } from './policy.ts';
import { Variable } from './schemas.ts';

export const deleteAppVariable = write({
  name: 'environment.deleteAppVariable',
  summary: 'Delete an environment variable of an app',
  description: 'Sandboxes that have it keep it for their life.',
  access: { permissions: ['project:update'] },
  responses: { 200: Ok({ variable: Variable }) },
  handle: async (tx, call) => deleteVariable(tx, call, await levelOfApp(tx.db, call, 'update')),
});
