import { createServer, type ServerHttp2Session } from 'node:http2';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { CLOSED, HOST_ID_HEADER, HOST_NAME_HEADER, HOST_PROTOCOL, PING_MS, SILENCE_MS } from './protocol.ts';
import { answer, type LocalHost } from './routes.ts';
import { sessionStream } from './session-stream.ts';

const HANDSHAKE_MS = 30_000,
  IDLE_STREAM_MS = 10 * 60_000;
const MESSAGE_BYTES = 16 * 1024 ** 2;

/** Who this host is, as the service says. */
export interface Identity {
  id: string;
  name: string;
}

/** How a connection ended. */
export interface Ended {
  /** Whether the service takes this program no more. */
  isFinal: boolean;
  /** For a person. */
  reason: string;
  /** For how long it was open: 0 where the service never accepted it. */
  openMs: number;
}

interface Dial {
  url: string;
  token: string;
  /** Called once it is accepted; requests wait until it resolves. Its error ends the program. */
  onOpen: (identity: Identity) => Promise<LocalHost>;
  signal: AbortSignal;
}

/** Dials the service, serves it, and returns when that is over. Throws what `onOpen` does. */
export async function connect({ url, token, onOpen, signal }: Dial): Promise<Ended> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/hosts/connect`, HOST_PROTOCOL, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES,
    handshakeTimeout: HANDSHAKE_MS,
    followRedirects: false,
  });
  const stop = (): void => socket.close(1000, 'The program ends.');
  const { promise, resolve, reject } = withResolvers<Ended>();
  let identity: Identity | undefined, fault: string | undefined, openedAt: number | undefined;
  socket.once('upgrade', ({ headers }) => {
    identity = {
      id: String(headers[HOST_ID_HEADER] ?? ''),
      name: decoded(String(headers[HOST_NAME_HEADER] ?? '')),
    };
  });
  socket.once('unexpected-response', (request, { statusCode }) => {
    request.destroy();
    resolve(refusal(statusCode ?? 0));
  });
  socket.on('error', (error) => {
    fault = error.message;
  });
  socket.once('open', () => {
    openedAt = performance.now();
    // What arrives meanwhile is kept.
    const stream = sessionStream(socket);
    onOpen(identity!).then(
      (host) => serve(host, socket, stream),
      (error: Error) => {
        reject(error);
        socket.terminate();
      },
    );
  });
  socket.once('close', (code, reason) => {
    const isFinal = Object.values<number>(CLOSED).includes(code);
    const words = reason.toString() || fault || `the connection ended (${code})`;
    const openMs = openedAt === undefined ? 0 : performance.now() - openedAt;
    resolve({ isFinal, reason: words, openMs });
  });
  const unwatch = watch(socket);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', stop);
    unwatch();
    socket.terminate();
  }
}

function refusal(status: number): Ended {
  const isFinal = status === 401;
  const reason = isFinal
    ? 'the service refuses the token: it is wrong, was rotated, or its host deleted'
    : `the service answered ${status}`;
  return { isFinal, reason, openMs: 0 };
}

/**
 * Pings, and ends a connection without a sign of life. It counts its own ticks instead of the time: after a suspension what has
 * arrived meanwhile, perhaps the end, is read first.
 */
function watch(socket: WebSocket): () => void {
  let silent = 0;
  const sign = (): void => {
    silent = 0;
  };
  for (const event of ['ping', 'pong', 'message', 'open']) socket.on(event, sign);
  const timer = setInterval(() => {
    if (++silent > SILENCE_MS / PING_MS) socket.terminate();
    else if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}

/** Answers the HTTP/2 requests that arrive over the stream of this WebSocket. */
function serve(host: LocalHost, socket: WebSocket, stream: Duplex): void {
  if (socket.readyState === WebSocket.CLOSED) return;
  const server = createServer({
    maxSessionMemory: 64,
    maxHeaderListPairs: 64,
    settings: {
      maxConcurrentStreams: 100,
      initialWindowSize: 1024 ** 2,
      maxHeaderListSize: 16 * 1024,
      enablePush: false,
    },
  });
  server.on('request', (req, res) => void answer(host, req, res));
  server.on('sessionError', () => stream.destroy());
  server.on('session', (session: ServerHttp2Session) => {
    session.on('stream', (one) => {
      one.setTimeout(IDLE_STREAM_MS, () => one.close());
      one.on('error', () => {
        /* the service gave it up, or its connection is gone */
      });
    });
    socket.once('close', () => session.destroy());
    session.once('close', () => stream.destroy());
  });
  server.emit('connection', stream);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Node 20 has no Promise.withResolvers. */
function withResolvers<T>() {
  let resolve!: (value: T) => void, reject!: (error: Error) => void;
  const promise = new Promise<T>((one, other) => {
    resolve = one;
    reject = other;
  });
  return { promise, resolve, reject };
}
