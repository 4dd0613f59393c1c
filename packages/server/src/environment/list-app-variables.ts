import Type from 'typebox';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { pageOfLevel } from './page-of-level.ts';
import { levelOfApp } from './policy.ts';
import { Variable } from './schemas.ts';

export const listAppVariables = read({
  name: 'environment.listAppVariables',
  summary: "List an app's environment variables, by name",
  access: { permissions: ['project:read'] },
  query: ListQuery({
    effective: Type.Optional(
      Type.Boolean({ description: "true: with the organization's variables that the app does not hide." }),
    ),
  }),
  responses: { 200: Page('variables', Variable) },
  handle: async (call) => pageOfLevel(call, await levelOfApp(call.ctx.db, call), call.query.effective),
});
