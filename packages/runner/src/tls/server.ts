import { constants } from 'node:crypto';
import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { TlsCredentials } from './credentials.ts';
import { hasRole, type TlsRole } from './peer-roles.ts';

const HANDSHAKE_MS = 5_000;
/** How long a peer may be silent before the kernel asks whether it lives. */
export const KEEPALIVE_MS = 10_000;
const RENEW_LOOK_MS = 1_000;

interface TlsServerOptions extends ServerOptions {
  tls: TlsCredentials;
  /** Roles of which a peer's certificate has to name one. */
  roles: readonly TlsRole[];
  /** Hears of each peer that was refused: one line for the log, without what a stranger could have written. */
  onRefused?: (reason: string) => void;
}

/**
 * An HTTPS server for peers of these roles. TLS 1.3 and a certificate of the own authority are required; a peer
 * without one fails in the handshake. The role is looked at right after it: not a byte of a request is read from
 * a peer of another role. Sockets stay open for writing when the peer has ended its half, as upgraded ones need it.
 */
export function createTlsServer(options: TlsServerOptions, onRequest: RequestListener): Server {
  const { tls, roles, onRefused = () => {}, ...http } = options;
  const server = createServer(
    {
      ...http,
      ...contextOf(tls),
      requestCert: true,
      rejectUnauthorized: true,
      handshakeTimeout: HANDSHAKE_MS,
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEPALIVE_MS,
    },
    onRequest,
  );
  // Before the listener that reads requests.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    if (hasRole(socket.getPeerX509Certificate(), roles)) return tls.watch(socket);
    onRefused(`${socket.remoteAddress ?? 'a peer'} has no certificate of the role ${roles.join(' or ')}`);
    socket.destroy();
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    // Who says nothing asks whether the port listens, as Kubernetes' probes and load balancers do all the time.
    if (error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return;
    onRefused(`${socket.remoteAddress ?? 'a peer'} did not pass the handshake (${error.code ?? 'no code'})`);
  });
  keepRenewed(server, tls);
  return server;
}

/** No session is resumed: a resumed one shows no certificate. */
const contextOf = ({ pems }: TlsCredentials): SecureContextOptions => ({
  ...pems,
  minVersion: 'TLSv1.3',
  secureOptions: constants.SSL_OP_NO_TICKET,
});

/** Gives the server the files as they are, while it listens. */
function keepRenewed(server: Server, tls: TlsCredentials): void {
  let used = tls.pems;
  const timer = setInterval(() => {
    if (tls.pems === used) return;
    used = tls.pems;
    server.setSecureContext(contextOf(tls));
  }, RENEW_LOOK_MS).unref();
  server.once('close', () => clearInterval(timer));
}
