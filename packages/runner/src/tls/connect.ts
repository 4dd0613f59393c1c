import { isIP } from 'node:net';
import { checkServerIdentity, connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { TlsCredentials } from './credentials.ts';
import { hasRole, type TlsRole } from './peer-roles.ts';
import { KEEPALIVE_MS } from './server.ts';

const CONNECT_MS = 5_000;

export interface Address {
  host: string;
  port: number;
}

export interface TlsTarget extends Address {
  tls: TlsCredentials;
}

/** `host:port`, with brackets around the host where it is an IPv6 address; null where it is neither. */
export function parseAddress(text: string): Address | null {
  const [, v6, name, digits] = /^(?:\[([^\]]+)\]|([^:\s[\]/]+)):(\d{1,5})$/.exec(text.trim()) ?? [];
  const port = Number(digits);
  if (!(port >= 1 && port <= 65_535) || (v6 !== undefined && isIP(v6) !== 6)) return null;
  return { host: (v6 ?? name)!, port };
}

export const addressText = ({ host, port }: Address): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

interface ConnectOptions {
  /** What the peer has to be. */
  role: TlsRole;
  timeoutMs?: number | undefined;
  /** Whether this side may go on writing when the peer has ended its half. */
  allowHalfOpen?: boolean;
}

/**
 * A connection to a peer of that role, after the handshake. The peer's certificate has to be of the own
 * authority, and name the role and the host. A server takes its own look at this side's certificate right after:
 * its refusal shows as the end of the connection. Rejects within `timeoutMs`.
 */
export function connectTls(
  { host, port, tls }: TlsTarget,
  { role, timeoutMs = CONNECT_MS, allowHalfOpen = false }: ConnectOptions,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const options: ConnectionOptions & { allowHalfOpen: boolean } = {
      host,
      port,
      // No name is sent for an address.
      servername: isIP(host) ? '' : host,
      secureContext: tls.context,
      allowHalfOpen,
      checkServerIdentity: (_, certificate) =>
        checkServerIdentity(host, certificate) ??
        (hasRole(socket.getPeerX509Certificate(), [role])
          ? undefined
          : new Error(`${addressText({ host, port })} has no certificate of the role ${role}.`)),
    };
    const socket = connect(options);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(new Error(`${addressText({ host, port })} did not accept within ${timeoutMs} ms.`)),
      timeoutMs,
    );
    // Of a name with two addresses: the error of both has no message of its own.
    const failed = (error: Error): void => fail(error instanceof AggregateError ? error.errors[0] : error);
    socket.once('error', failed).once('secureConnect', () => {
      clearTimeout(timer);
      socket.off('error', failed);
      socket.setNoDelay(true).setKeepAlive(true, KEEPALIVE_MS);
      tls.watch(socket);
      resolve(socket);
    });
  });
}
