import { STATUS_CODES } from 'node:http';
import type { Reason } from './policy.ts';

const HOSTS =
  'The hosts are a setting of the project: PATCH /api/platform/v1/apps/{appId}/settings with ' +
  '{"egress": {"mode": "list", "hosts": ["…"]}} (mode "registries" adds the package registries).';

const TEXTS: Record<Reason, (host: string) => string> = {
  not_listed: (host) => `${host} is not in the list of hosts that this project may reach. ${HOSTS}`,
  address: () => 'Hosts are reached by their names; addresses are always refused.',
  port: () => "Only port 443 is reached, by TLS, apart from the operator's registries.",
  not_tls: () =>
    'Only TLS passes: use the https URL. (A client that is set to use a proxy for https asks it with CONNECT.)',
  invalid: () => 'What follows CONNECT has to be the name of a host and a port: example.com:443.',
  unresolved: (host) => `The address of ${host} could not be looked up: no name server knows the name.`,
  private_address: (host) =>
    `${host} leads to an address that is not of the open internet. Only hosts that the operator names in ` +
    'config.json, "egress": {"private": ["…"]}, may have one.',
  limit: () => 'Too many connections or look-ups at a time. Try again in a moment.',
  server_name: (host) => `The connection for ${host} did not begin with a TLS handshake that names ${host}.`,
};

/** The body of a 403, written for the reader of a command's log. */
export const refusalText = (reason: Reason, host: string): string =>
  `Refused by the setting egress of this project (${reason}). ${TEXTS[reason](host)}\n`;

/** The reason phrase of a 403: many clients show nothing else of a proxy's answer. */
export const refusalPhrase = (reason: Reason): string => `Refused by the setting egress: ${reason}`;

/** An answer to a CONNECT that is refused, which also ends the connection. */
export const refusal = (reason: Reason, host: string): string =>
  answer(403, refusalText(reason, host), refusalPhrase(reason));

/** An HTTP answer to a CONNECT, which also ends the connection. */
export function answer(status: number, text: string, phrase = STATUS_CODES[status]!): string {
  return (
    `HTTP/1.1 ${status} ${phrase}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ` +
    `${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`
  );
}
