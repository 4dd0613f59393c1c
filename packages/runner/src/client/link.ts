import { Agent, request, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import { TlsAgent, type TlsRole, type TlsTarget } from '../tls/index.ts';
import { SIGN_OF_LIFE_MS } from '../protocol.ts';

/** The path of a unix socket, a place that others are reached through, or a runner on a node. */
export type RunnerTarget = string | Relayed | (TlsTarget & { silenceMs?: number });

/** A peer behind a unix socket, or behind an api process on another machine, which passes on what begins with `prefix`. */
export type Relayed = ({ socketPath: string } | TlsTarget) & { prefix: string };

/** How requests reach a runner. */
export interface Link {
  request(options: RequestOptions): ClientRequest;
  /** Closes idle connections. */
  close(): void;
}

/**
 * A runner that works for long shows a sign of life every SIGN_OF_LIFE_MS, so one that was silent for longer is
 * away, or no packet reaches it.
 */
const SILENCE_MS = 4 * SIGN_OF_LIFE_MS;
/** Who passes calls on shows no sign of life before an answer begins, and gives up after five minutes. */
const RELAY_SILENCE_MS = 6 * 60_000;

/** The handshakes for the next visits are not to delay this one. */
const PREPARE_MS = 20;

export const openLink = (target: RunnerTarget): Link =>
  typeof target === 'string'
    ? socketLink(target)
    : 'prefix' in target
      ? relayedLink(target)
      : tlsLink(target);

/** The peer is on this machine: it answers, or its end closes the connection. */
function socketLink(socketPath: string): Link {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  return { request: (options) => request({ socketPath, agent, ...options }), close: () => agent.destroy() };
}

function relayedLink({ prefix, ...place }: Relayed): Link {
  const { request: send, close } =
    'socketPath' in place
      ? socketLink(place.socketPath)
      : tlsLink({ ...place, silenceMs: RELAY_SILENCE_MS }, 'api');
  return { request: (options) => send({ ...options, path: `${prefix}${options.path ?? ''}` }), close };
}

/** Answers may take any time; silence is bounded. */
function tlsLink(
  { silenceMs = SILENCE_MS, ...target }: TlsTarget & { silenceMs?: number },
  role: TlsRole = 'runner',
): Link {
  const agent = new TlsAgent(target, role);
  const { host, port } = target;
  return {
    request(options) {
      const req = request({ host, port, agent, ...options });
      req.setTimeout(silenceMs, () => {
        if (isWaiting(req)) req.destroy(new Error(`It was silent for ${silenceMs / 1000} seconds.`));
        else req.socket?.setTimeout(silenceMs);
      });
      // What an upgraded connection says is not the runner's. Who visits a preview comes again at once.
      req.once('upgrade', (_res, socket: Duplex & { setTimeout?: (ms: number) => void }) => {
        socket.setTimeout?.(0);
        setTimeout(() => void agent.prepare(), PREPARE_MS).unref();
      });
      return req;
    },
    close: () => agent.destroy(),
  };
}

/** Whether the next byte is the peer's to send or to take, rather than this side's. */
function isWaiting(req: ClientRequest & { res?: IncomingMessage }): boolean {
  if (req.res) return req.res.readableLength < req.res.readableHighWaterMark;
  return req.writableEnded || req.writableLength > 0;
}
