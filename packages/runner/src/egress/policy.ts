import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/**
 * Why a connection was refused: its name is not in the list; an address instead of a name; a port other than
 * 443; HTTP without TLS; no `host:port`; a name without a known address; one that leads outside the open
 * internet; too many look-ups or connections; a TLS handshake for another name, or none.
 */
export type Reason =
  | 'not_listed'
  | 'address'
  | 'port'
  | 'not_tls'
  | 'invalid'
  | 'unresolved'
  | 'private_address'
  | 'limit'
  | 'server_name';

/** What a task may reach, as in its request. */
export interface Reach {
  hosts: string[];
  privateHosts: string[];
  endpoints: { host: string; port: number; tls: boolean }[];
}

/** A connection that the policy lets through to its look-up. */
export interface Allowed {
  name: string;
  port: number;
  tls: boolean;
  mayBePrivate: boolean;
}

/**
 * Only TLS passes, but to the operator's endpoints: a download that others can read and change on the way is
 * not to be trusted, and other ports lead to mail, shells and databases. So a redirect from port 80 does not
 * work; the https URL does.
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
 * Host names: `example.com` is itself; `*.example.com` is everything below it, but not itself. Names are asked
 * for in the form of `asciiName`.
 */
class HostList {
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

  has(name: string): boolean {
    return this.#names.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix));
  }
}

/** What one task may reach. */
export class Policy {
  readonly #listed: HostList;
  readonly #private: HostList;
  readonly #endpoints: Reach['endpoints'];

  constructor({ hosts, privateHosts, endpoints }: Reach) {
    this.#listed = new HostList(hosts);
    this.#private = new HostList(privateHosts);
    this.#endpoints = endpoints.map((one) => ({ ...one, host: asciiName(one.host) }));
  }

  /** What a CONNECT to this target may do, or why it may not; undefined is a target without `host:port`. */
  checkTunnel(target: { host: string; port: number } | undefined): Allowed | { reason: Reason } {
    if (!target) return { reason: 'invalid' };
    const { port } = target,
      name = nameOf(target.host);
    if (typeof name !== 'string') return name;
    const endpoint = this.#endpoints.find((one) => one.host === name && one.port === port);
    if (endpoint) return this.#allowed(name, port, endpoint.tls);
    if (port !== TLS_PORT) return { reason: 'port' };
    return this.#listed.has(name) ? this.#allowed(name, port, true) : { reason: 'not_listed' };
  }

  /** The same for a request without TLS: only the operator's endpoints take one. */
  checkPlain({ host, port }: { host: string; port: number }): Allowed | { reason: Reason } {
    const name = nameOf(host);
    if (typeof name !== 'string') return { reason: 'not_tls' };
    const isOpen = this.#endpoints.some((one) => !one.tls && one.host === name && one.port === port);
    return isOpen ? this.#allowed(name, port, false) : { reason: 'not_tls' };
  }

  #allowed(name: string, port: number, tls: boolean): Allowed {
    return { name, port, tls, mayBePrivate: this.#private.has(name) };
  }
}

/** The name of a host as it is compared, or why it is none. */
function nameOf(host: string): string | { reason: Reason } {
  const name = asciiName(host);
  if (host.startsWith('[') || isAddress(name)) return { reason: 'address' };
  return /^[a-z0-9_][a-z0-9_.-]*$/.test(name) ? name : { reason: 'invalid' };
}

/** Names that end in a number are addresses to most resolvers, whatever they look like. */
function isAddress(name: string): boolean {
  return isIP(name) !== 0 || /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name);
}
