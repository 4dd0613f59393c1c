import Type from 'typebox';
import { read } from '../http/operation.ts';
import { Ok, Text } from '../http/schemas.ts';

export const getHealth = read({
  name: 'health.getHealth',
  summary: 'Whether the process lives',
  access: 'public',
  responses: { 200: Ok({ status: Type.Literal('ok'), version: Text('0.1.0') }) },
  handle: async ({ ctx }) => ({ status: 200, body: { ok: true, status: 'ok', version: ctx.version } }),
});
