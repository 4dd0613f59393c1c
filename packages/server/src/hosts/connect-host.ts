import Type from 'typebox';
import { HOST_PROTOCOL } from '@headrace/runner/host/protocol';
import { invalid } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { authenticateHost } from './authenticate-host.ts';

/** The upgrade itself never comes here: hub.ts takes it from the server. */
export const connectHost = read({
  name: 'hosts.connectHost',
  summary: "Connect a host's program",
  description: `For the program \`headrace host\` alone: a WebSocket with the subprotocol \`${HOST_PROTOCOL}\` and a host token as \`Authorization: Bearer\`. Any other credential is 401, a request without an upgrade 400.`,
  access: 'public',
  responses: { 200: Ok({ never: Type.Optional(Type.Boolean({ description: 'It is never answered so.' })) }) },
  errors: [401, 402, 501],
  async handle({ ctx, headers }) {
    await authenticateHost(ctx, headers);
    throw invalid({ path: '/headers/upgrade', message: 'has to be websocket' });
  },
});
