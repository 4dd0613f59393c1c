import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { levelOfOrganization, loadVariable } from './policy.ts';
import { Variable } from './schemas.ts';
import { variableView } from './view.ts';

export const getOrganizationVariable = read({
  name: 'environment.getOrganizationVariable',
  summary: 'Get an environment variable of the organization',
  access: { session: 'admin' },
  responses: { 200: Ok({ variable: Variable }) },
  async handle(call) {
    const row = await loadVariable(call.ctx.db, levelOfOrganization(call.principal), call.params.name!);
    return { status: 200, body: { ok: true, variable: variableView(call.ctx, row) } };
  },
});
