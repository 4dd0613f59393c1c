import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { newId } from '../ids.ts';
import { HostBody, HostWithToken } from './schemas.ts';
import { insertHost } from './store.ts';
import { makeHostToken } from './token.ts';
import { withToken } from './view.ts';

export const createHost = write({
  name: 'hosts.createHost',
  summary: "Add one's own machine as a host",
  description:
    'A browser session of any member. The machine is online once its program, `headrace host`, has connected with `token`, which is returned only once.',
  access: { session: 'member' },
  capability: 'hosts',
  body: HostBody,
  responses: { 201: HostWithToken },
  async handle(tx, call) {
    const { principal, body } = call;
    const id = newId('hst');
    const { token, hash } = makeHostToken(id);
    const host = await insertHost(tx, {
      org_id: principal.orgId,
      id,
      name: body.name,
      user_id: principal.userId!,
      token_hash: hash,
    });
    await audit(tx, call, 'host.created', id);
    return withToken(201, host, token);
  },
});
