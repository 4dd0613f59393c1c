import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadNamedSource } from './policy.ts';
import { Source } from './schemas.ts';
import { sourceView } from './view.ts';

export const getSource = read({
  name: 'sources.getSource',
  summary: 'Read a source version',
  access: { permissions: ['project:read'] },
  responses: { 200: Ok({ source: Source }) },
  async handle(call) {
    return { status: 200, body: { ok: true, source: sourceView(await loadNamedSource(call)) } };
  },
});
