import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/**
 * Why a connection was refused: its name is not in the list; an address instead of a name; a port other than
 * 443; HTTP without TLS; no `host:port`; a name that leads outside the open internet; a TLS handshake for
 * another name, or none.
 */
export type Reason =
  | 'not_listed'
  | 'address'
  | 'port'
  | 'not_tls'
  | 'invalid'
  | 'private_address'
  | 'server_name';

/**
 * Only TLS passes: a download that others can read and change on the way is not to be trusted, and other
 * ports lead to mail, shells and databases. So a redirect from port 80 does not work; the https URL does.
 */
const TLS_PORT = 443;

/** `host:port` of a CONNECT, as the HTTP parser returns it; undefined when the text has another form. */
export function targetOf(text: string): { host: string; port: number } | undefined {
  const [, host, port] =
    /^(\[[^[\]]*\]|[^\s:[\]/?#@\\%]+):(\d{1,5})$/.exec(Buffer.from(text, 'latin1').toString()) ?? [];
  return host === undefined ? undefined : { host, port: Number(port) };
}

/**
 * A host name in the form in which names are compared: punycode, lower case, no final dot. An IPv4 address in
 * any notation becomes `a.b.c.d`; '' is not a name.
 */
const asciiName = (host: string): string => domainToASCII(host.replace(/\.$/, ''));

/**
 * The host names that a task may reach: `example.com` is itself; `*.example.com` is everything below it, but
 * not itself.
 */
export class HostList {
  readonly #names = new Set<string>();
  readonly #suffixes: string[] = [];

  constructor(hosts: string[]) {
    for (const host of hosts) {
      const name = asciiName(host.replace(/^\*\./, ''));
      if (name === '' || isAddress(name)) continue;
      if (host.startsWith('*.')) this.#suffixes.push(`.${name}`);
      else this.#names.add(name);
    }
  }

  /** The name to connect to, or why there is none. */
  check({ host, port }: { host: string; port: number }): { name: string } | { reason: Reason } {
    const name = asciiName(host);
    if (host.startsWith('[') || isAddress(name)) return { reason: 'address' };
    if (!/^[a-z0-9_][a-z0-9_.-]*$/.test(name)) return { reason: 'invalid' };
    if (port !== TLS_PORT) return { reason: 'port' };
    return this.#names.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix))
      ? { name }
      : { reason: 'not_listed' };
  }
}

/** Names that end in a number are addresses to most resolvers, whatever they look like. */
function isAddress(name: string): boolean {
  return isIP(name) !== 0 || /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name);
}
