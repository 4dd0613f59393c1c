import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Body } from '../http/schemas.ts';
import { lockOwnHost } from './policy.ts';
import { HostWithToken } from './schemas.ts';
import { saveHost } from './store.ts';
import { makeHostToken } from './token.ts';
import { withToken } from './view.ts';

export const rotateToken = write({
  name: 'hosts.rotateToken',
  summary: "Replace a host's token",
  description:
    'A browser session of its person, an owner or an admin. The old token and its connection end; the new one is returned only once.',
  access: { session: 'member' },
  capability: 'hosts',
  body: Body({}),
  responses: { 200: HostWithToken },
  async handle(tx, call) {
    const { id } = await lockOwnHost(tx, call);
    const { token, hash } = makeHostToken(id);
    const host = await saveHost(tx, id, { token_hash: hash });
    await audit(tx, call, 'host.token_rotated', id);
    return withToken(200, host, token);
  },
});
