import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadHost } from './policy.ts';
import { Host } from './schemas.ts';
import { hostView } from './view.ts';

export const getHost = read({
  name: 'hosts.getHost',
  summary: 'Get a host',
  access: { permissions: ['thread:read'] },
  capability: 'hosts',
  responses: { 200: Ok({ host: Host }) },
  handle: async ({ ctx, principal, params }) => ({
    status: 200,
    body: { ok: true, host: hostView(await loadHost(ctx.db, principal, params.hostId!)) },
  }),
});
