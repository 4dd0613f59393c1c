import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { levelOfApp, loadVariable } from './policy.ts';
import { Variable } from './schemas.ts';
import { variableView } from './view.ts';

export const getAppVariable = read({
  name: 'environment.getAppVariable',
  summary: 'Get an environment variable of an app',
  access: { permissions: ['project:read'] },
  responses: { 200: Ok({ variable: Variable }) },
  async handle(call) {
    const row = await loadVariable(call.ctx.db, await levelOfApp(call.ctx.db, call), call.params.name!);
    return { status: 200, body: { ok: true, variable: variableView(call.ctx, row) } };
  },
});
