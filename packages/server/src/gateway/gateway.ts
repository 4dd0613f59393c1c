/**
 * The model gateway: where agents in sandboxes, which have no network and no keys, reach models and MCP
 * servers. It listens on a unix socket. The runner joins each connection of a sandbox to it, with a line
 * that names the run.
 */
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { rm } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { every } from '../jobs/every.ts';
import { acceptTask, runOfSocket } from './accept.ts';
import { callerOf } from './caller.ts';
import { callModel } from './call-model.ts';
import { Calls } from './calls.ts';
import { proxyMcp } from './mcp-proxy.ts';
import { guessWire, routeOf } from './route.ts';
import { socketPlace } from './socket-place.ts';
import { renewLeases, sweepCalls } from './sweep.ts';
import type { UpstreamTimes } from './upstream.ts';
import { GatewayError, sendError } from './wire-errors.ts';

interface OpenGateway {
  /** Takes a connection of a sandbox, which begins with the line that names its run. */
  accept(socket: Socket): void;
  /** Ends and settles the calls under way. */
  close(): Promise<void>;
}

interface Gateway {
  socketPath: string;
  /** Ends and settles the calls under way, and removes the socket. */
  close(): Promise<void>;
}

type GatewayContext = Pick<Context, 'config' | 'db' | 'bus' | 'log' | 'metrics' | 'secretKey' | 'shutdown'>;

const SWEEP_MS = 5_000;
const RENEW_MS = 5_000;
const HEADERS_MS = 30_000;
/** Longer than calls may wait, as a body is not read while its call waits for its turn. */
const REQUEST_MS = 300_000;
const MOST_CONNECTIONS = 4_096;
/**
 * A run has at most 64 connections, but a client that does not wait for answers could send any number of
 * requests on each.
 */
const MOST_OF_RUN = 128;

/** `requestMs`: until a request has arrived. */
type GatewayTimes = UpstreamTimes & { requestMs: number };
const TIMES: GatewayTimes = { connectMs: 10_000, headersMs: 600_000, idleMs: 300_000, requestMs: REQUEST_MS };

/** The gateway on a unix socket, for the runner of this host. */
export async function startGateway(ctx: GatewayContext, given: Partial<GatewayTimes> = {}): Promise<Gateway> {
  const gateway = openGateway(ctx, given);
  const listener = createServer((socket) => gateway.accept(socket));
  const socketPath = await socketPlace(ctx.config.dataDir);
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject).listen(socketPath, resolve);
  });
  return {
    socketPath,
    async close() {
      listener.close();
      await gateway.close();
      await rm(socketPath, { force: true });
    },
  };
}

/** The gateway for connections that come another way. */
export function openGateway(ctx: GatewayContext, given: Partial<GatewayTimes> = {}): OpenGateway {
  const times = { ...TIMES, ...given };
  const calls = new Calls(times);
  const http = createHttpServer(
    {
      keepAliveTimeout: 120_000,
      headersTimeout: Math.min(HEADERS_MS, times.requestMs),
      requestTimeout: times.requestMs,
      connectionsCheckingInterval: Math.min(10_000, times.requestMs),
    },
    bounded((req, res) => answer(ctx, calls, req, res)),
  );
  // Node checks for slow requests once a server listens, which this one does not.
  http.emit('listening');
  const sockets = new Set<Socket>();
  const accept = (socket: Socket): void => {
    if (sockets.size >= MOST_CONNECTIONS) return void socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    acceptTask(socket, http);
  };
  const options = {
    onFailure: (err: unknown) =>
      ctx.log.warn({ err }, 'calls of models cannot be looked after: another attempt follows'),
  };
  const loops = [
    every(SWEEP_MS, () => sweepCalls(ctx), options),
    every(RENEW_MS, () => renewLeases(ctx, [...calls.open]), options),
  ];
  return {
    accept,
    async close() {
      for (const loop of loops) void loop.stop();
      await calls.close();
      for (const socket of sockets) socket.destroy();
      http.close();
    },
  };
}

/** Closes the connection of a run that has too many requests under way. */
function bounded(
  handle: (req: IncomingMessage, res: ServerResponse) => Promise<void>,
): (req: IncomingMessage, res: ServerResponse) => void {
  const underWay = new Map<string, number>();
  return (req, res) => {
    const run = runOfSocket(req.socket)!;
    const count = underWay.get(run) ?? 0;
    if (count >= MOST_OF_RUN) return void req.socket.destroy();
    underWay.set(run, count + 1);
    void handle(req, res).finally(() => {
      const left = underWay.get(run)! - 1;
      if (left) underWay.set(run, left);
      else underWay.delete(run);
    });
  };
}

async function answer(
  ctx: GatewayContext,
  calls: Calls,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const route = routeOf(req.method ?? '', req.url ?? '');
  const wire = guessWire(req.url ?? '', req.headers);
  res.on('error', () => {});
  try {
    if (route?.kind === 'model') return await callModel(ctx, calls, route, { req, res });
    const { run } = await callerOf(ctx, req, '');
    if (!route) throw new GatewayError(404, 'The model gateway has no such path.');
    await proxyMcp(ctx, { run, serverId: route.serverId }, req, res);
  } catch (error) {
    if (!(error instanceof GatewayError)) ctx.log.error({ err: error }, 'a call of the model gateway failed');
    sendError(
      res,
      wire,
      error instanceof GatewayError ? error : new GatewayError(500, 'The model gateway has an error.'),
    );
  }
}
