import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { lockOwnHost } from './policy.ts';
import { Host, HostBody } from './schemas.ts';
import { saveHost } from './store.ts';
import { hostView, scopeOf } from './view.ts';

export const updateHost = write({
  name: 'hosts.updateHost',
  summary: 'Rename a host',
  description: 'A browser session of its person, an owner or an admin.',
  access: { session: 'member' },
  capability: 'hosts',
  body: HostBody,
  responses: { 200: Ok({ host: Host }) },
  async handle(tx, call) {
    const { id } = await lockOwnHost(tx, call);
    const host = await saveHost(tx, id, { name: call.body.name });
    await audit(tx, call, 'host.updated', id);
    return { status: 200, scope: scopeOf(host), body: { ok: true, host: hostView(host) } };
  },
});
