import type { EventEmitter } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { joinSockets } from '@headrace/agent/join-sockets.ts';
import { RunnerError } from '../errors.ts';
import { createTlsServer, type TlsCredentials } from '../tls/index.ts';
import { address, dispatch, type Runner } from './routes.ts';
import { watchRemote } from './remote.ts';

/** For the rest of a visit that its visitor or the preview has ended; a silent half counts as left open. */
const VISIT_PATIENCE_MS = 5_000;

/** Signs of a living worker: the time of its last request, and the number of requests in progress. */
export interface Use {
  lastAt: number;
  underWay: number;
}

/** How workers and api processes on other machines reach it. */
interface Remote {
  tls: TlsCredentials;
  onRefused: (reason: string) => void;
}

/** The runner's HTTP server, and the record of its use. On a unix socket unless it is `remote`. */
export function makeServer(runner: Runner, remote?: Remote): { server: Server; use: Use } {
  const use: Use = { lastAt: Date.now(), underWay: 0 };
  const count = (call: EventEmitter): void => {
    use.underWay++;
    call.once('close', () => {
      use.underWay--;
      use.lastAt = Date.now();
    });
  };
  // Bodies and journals may take any time: of a peer on this machine, or one that shows signs of life.
  const times = { requestTimeout: 0, headersTimeout: 10_000, keepAliveTimeout: 60_000 };
  const onRequest: RequestListener = (req, res) => {
    count(res);
    if (remote) watchRemote(req, res);
    answer(runner, req, res).catch((error: unknown) => refuse(req, res, error));
  };
  const server = remote
    ? createTlsServer({ ...times, ...remote, roles: ['worker', 'api'] }, onRequest)
    : createServer(times, onRequest);
  server.on('upgrade', (req, socket) => {
    count(socket);
    connect(runner, req, socket).catch((error: unknown) => {
      const { status, body } = refusalOf(error);
      socket.end(
        `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\ncontent-length: ` +
          `${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
        () => socket.destroy(),
      );
    });
  });
  return { server, use };
}

async function answer(runner: Runner, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const value = await dispatch(runner, req, res);
  if (res.headersSent) return;
  if (value === undefined) res.writeHead(204).end();
  else res.setHeader('content-type', 'application/json').end(JSON.stringify(value));
}

function refuse(req: IncomingMessage, res: ServerResponse, error: unknown): void {
  const { status, body } = refusalOf(error);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  // An unread body would block the connection for the next request.
  if (!req.complete) res.setHeader('connection', 'close');
  res.writeHead(status, { 'content-type': 'application/json' }).end(body);
  req.resume();
}

function refusalOf(error: unknown): { status: number; body: string } {
  const known =
    error instanceof RunnerError
      ? error
      : new RunnerError(500, 'internal', error instanceof Error ? error.message : 'unexpected failure');
  if (known.status >= 500) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  return {
    status: known.status,
    body: JSON.stringify({ error: { code: known.code, message: known.message } }),
  };
}

async function connect(runner: Runner, req: IncomingMessage, socket: Duplex): Promise<void> {
  socket.on('error', () => socket.destroy());
  const { key, id } = address(req);
  if (key !== 'GET /tasks/:id/connect') throw new RunnerError(404, 'not_found', 'There is no such route.');
  const inside = await runner.tasks.get(id).connect();
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n');
  joinSockets(socket as Socket, inside, VISIT_PATIENCE_MS);
}
