/**
 * The connections of hosts that this process holds. The row of a host says which one of all processes' connections is
 * its own: the one with the newest number. What a host tells is read when it connects, and every 15 s.
 *
 *   admitted   its token counts            it has its number, and what it tells is read
 *   its own    that is stored: online      calls are passed on to it (relay.ts)
 *   over       silence, its end, another connection, another token, or the end of the host
 */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createHostClient } from '@headrace/runner/client';
import type { HostClient } from '@headrace/runner/client';
import { HOST_ID_HEADER, HOST_NAME_HEADER, HOST_PROTOCOL, PING_MS } from '@headrace/runner/host/protocol';
import type { HostStatus } from '@headrace/runner/host/protocol';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { anonymous } from '../http/admission.ts';
import { databaseFault } from '../http/database-faults.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { retryHeaders } from '../http/rate-limit.ts';
import { authenticateHost, findKnown } from './authenticate-host.ts';
import type { KnownHost } from './authenticate-host.ts';
import { HostConnection } from './connection.ts';
import { forgetEnded } from './forget-ended.ts';
import { startRelay } from './relay.ts';
import { beginConnection, endConnection, numberConnection, storeStatus, touchConnection } from './store.ts';

const PATH = '/api/hosts/connect';
const STATUS_MS = 15_000;
/** Until a host says for the first time what it has. */
const WELCOME_MS = 20_000;
const CLOSE_MS = 2_000;
/** A message is what HTTP/2 writes at once. */
const MESSAGE_BYTES = 16 * 1024 ** 2;

export class HostHub {
  readonly #ctx: Context;
  readonly #wss: WebSocketServer;
  readonly #all = new Set<HostConnection>();
  readonly #own = new Map<string, HostConnection>();
  readonly #ends = new Set<Promise<void>>();
  readonly #relay: Promise<Awaited<ReturnType<typeof startRelay>>>;
  readonly #unlisten: () => void;
  #isClosed = false;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#wss = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      maxPayload: MESSAGE_BYTES,
      handleProtocols: () => HOST_PROTOCOL,
    });
    this.#relay = startRelay(
      ctx,
      (id) => this.#own.get(id) ?? [...this.#all].find((connection) => connection.id === id),
    );
    this.#relay.catch((err: unknown) => ctx.log.error({ err }, 'hosts cannot be reached'));
    this.#unlisten = ctx.bus.listen('hosts', (hostId) => void this.#look(hostId));
  }

  handles({ url = '' }: IncomingMessage): boolean {
    return url.split('?')[0] === PATH;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    this.#admit(request, socket, head).catch((error: unknown) => refuse(socket, this.#asApiError(error)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unlisten();
    for (const connection of this.#all) connection.leave();
    const cutting = setTimeout(() => {
      for (const connection of this.#all) connection.cut();
    }, CLOSE_MS);
    while (this.#ends.size > 0) await Promise.all(this.#ends);
    clearTimeout(cutting);
    await (await this.#relay.catch(() => null))?.close();
  }

  async #admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const host = await this.#authenticate(request);
    const asked = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    if (!asked.includes(HOST_PROTOCOL))
      throw invalid({ path: '/headers/sec-websocket-protocol', message: `has to be ${HOST_PROTOCOL}` });
    // Before the program knows that it is connected: it dials again only afterwards.
    const epoch = await numberConnection(this.#ctx.db);
    if (this.#isClosed || socket.destroyed) return void socket.destroy();
    const introduce = (headers: string[], of: IncomingMessage) => {
      if (of !== request) return;
      headers.push(`${HOST_ID_HEADER}: ${host.id}`, `${HOST_NAME_HEADER}: ${encodeURIComponent(host.name)}`);
    };
    this.#wss.on('headers', introduce);
    this.#wss.handleUpgrade(request, socket, head, (ws) => this.#welcome(ws, host, epoch));
    this.#wss.off('headers', introduce);
  }

  /** A request counts for its host, or for its address. */
  async #authenticate({ headers, socket }: IncomingMessage): Promise<KnownHost> {
    const { limits, config } = this.#ctx;
    const limiter = limits.limiter('ingress', config.rateLimit, config.rateWindowSeconds);
    const [host, refusal] = await authenticateHost(this.#ctx, headers).then(
      (known) => [known, null] as const,
      (error: unknown) => [null, error] as const,
    );
    const { verdict, resetSeconds } = await limiter.take(host?.id ?? anonymous(socket.remoteAddress ?? ''));
    if (verdict === 'refused')
      throw new ApiError('rate_limited', `Too many requests. Retry in ${resetSeconds} s.`, {
        headers: retryHeaders(resetSeconds),
      });
    if (!host) throw refusal;
    return host;
  }

  #welcome(ws: WebSocket, host: KnownHost, epoch: number): void {
    const connection = new HostConnection(ws, host, epoch);
    this.#all.add(connection);
    const ended = new Promise<void>((resolve) => connection.onClosed(resolve)).then(() =>
      this.#ended(connection),
    );
    this.#ends.add(ended);
    void ended.finally(() => this.#ends.delete(ended));
    this.#begin(connection).catch((err: unknown) => {
      this.#ctx.log.info({ err, host: host.id }, 'a host connected, and does not say what it has');
      connection.cut();
    });
  }

  async #begin(connection: HostConnection): Promise<void> {
    const { host, epoch } = connection;
    const { place } = await this.#relay;
    const status = await this.#ask(connection, WELCOME_MS);
    const { processId } = this.#ctx;
    const begun = await transaction(this.#ctx, (tx) =>
      beginConnection(tx, { hostId: host.id, epoch, tokenHash: host.token_hash, processId, place }, status),
    );
    if (begun !== 'begun') return connection.end(begun);
    if (connection.over.signal.aborted) return this.#ended(connection);
    const other = this.#own.get(host.id);
    if (other && other.epoch > epoch) return connection.end('replaced');
    this.#own.set(host.id, connection);
    other?.end('replaced');
    this.#ctx.log.info({ host: host.id }, 'a host is online');
    this.#follow(connection);
    this.#forget(connection, status);
  }

  /** Asks the host again and again what it has, and keeps its row. */
  #follow(connection: HostConnection): void {
    const timer = setInterval(() => {
      this.#renew(connection).catch((err: unknown) =>
        this.#ctx.log.debug({ err, host: connection.host.id }, 'a host was not looked at'),
      );
    }, STATUS_MS);
    connection.over.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  async #renew(connection: HostConnection): Promise<void> {
    const { host, epoch } = connection;
    if (connection.silentMs < PING_MS) await touchConnection(this.#ctx.db, host.id, epoch);
    // Its person may have left the organization.
    await this.#look(host.id);
    if (connection.over.signal.aborted) return;
    const status = await this.#ask(connection, STATUS_MS);
    await transaction(this.#ctx, (tx) => storeStatus(tx, { hostId: host.id, epoch }, status));
    this.#forget(connection, status);
  }

  /** What the host has, which is in `client`'s reach for as long as `use` takes. */
  async #over<T>(connection: HostConnection, use: (client: HostClient) => Promise<T>): Promise<T> {
    const { socket } = await this.#relay;
    const client = createHostClient({ socketPath: socket, prefix: `/${connection.id}` });
    try {
      return await use(client);
    } finally {
      client.close();
    }
  }

  #ask(connection: HostConnection, ms: number): Promise<HostStatus> {
    return this.#over(connection, (client) => client.hostStatus(AbortSignal.timeout(ms)));
  }

  /** Tells the host what has ended: its tasks, and its worktrees. */
  #forget(connection: HostConnection, status: HostStatus): void {
    const { host } = connection;
    this.#over(connection, (client) => forgetEnded(this.#ctx, { host, client }, status)).catch(
      (err: unknown) => this.#ctx.log.debug({ err, host: host.id }, 'a host was not told what has ended'),
    );
  }

  /** Ends the connections of a host that do not count any more. */
  async #look(hostId: string): Promise<void> {
    const here = [...this.#all].filter(({ host }) => host.id === hostId);
    if (here.length === 0) return;
    const now = await findKnown(this.#ctx, hostId).catch(() => null);
    if (now === null) return;
    for (const connection of here) {
      if (!now) connection.end('deleted');
      else if (!now.token_hash.equals(connection.host.token_hash)) connection.end('refused');
      else if (connection.epoch < now.epoch) connection.end('replaced');
    }
  }

  async #ended(connection: HostConnection): Promise<void> {
    const { host, epoch } = connection;
    this.#all.delete(connection);
    if (this.#own.get(host.id) === connection) this.#own.delete(host.id);
    const silentMs = Math.round(connection.silentMs);
    await endConnection(this.#ctx.db, { hostId: host.id, epoch }, silentMs).catch((err: unknown) =>
      this.#ctx.log.warn(
        { err, host: host.id },
        'the end of a connection was not recorded; its silence shows it',
      ),
    );
  }

  #asApiError(error: unknown): ApiError {
    const known = error instanceof ApiError ? error : databaseFault(error);
    if (known) return known;
    this.#ctx.log.error({ err: error }, 'a host could not connect');
    return new ApiError('internal', 'Something failed on our side. Retry in a moment.', { cause: error });
  }
}

function refuse(socket: Duplex, error: ApiError): void {
  const body = JSON.stringify(error.body(randomUUID()));
  const headers = Object.entries({
    ...error.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${headers.join('')}\r\n${body}`);
}
