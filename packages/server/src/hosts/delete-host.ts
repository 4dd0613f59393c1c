import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { lockOwnHost } from './policy.ts';
import { Host } from './schemas.ts';
import { removeHost } from './store.ts';
import { hostView, scopeOf } from './view.ts';

export const deleteHost = write({
  name: 'hosts.deleteHost',
  summary: 'Delete a host',
  description:
    'A browser session of its person, an owner or an admin. Its connection ends, and its runs fail with `host_lost`. Its threads stay, and take no messages.',
  access: { session: 'member' },
  capability: 'hosts',
  responses: { 200: Ok({ host: Host }) },
  async handle(tx, call) {
    const host = await lockOwnHost(tx, call);
    await removeHost(tx, host.id);
    await audit(tx, call, 'host.deleted', host.id);
    return { status: 200, scope: scopeOf(host), body: { ok: true, host: hostView(host) } };
  },
});
