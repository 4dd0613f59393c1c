/**
 * Previews by Host name, on the service's own listener (address.ts). Every path under such a name is the
 * preview's. One connection to the sandbox per request: what one visitor sends can never be
 * read as another's.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from '../context.ts';
import { ApiError } from '../http/errors.ts';
import type { PreviewProxy } from '../http/server.ts';
import { tokenReader } from './address.ts';
import { Connections } from './connections.ts';
import type { Connection } from './connections.ts';
import { refuseRequest, refuseUpgrade } from './refuse-visit.ts';
import { RequestVisit, UpgradeVisit } from './visits.ts';
import type { Patience, Visit } from './visits.ts';

/** The time within an answer is long, since event streams pause. */
const PATIENCE: Patience = { answerMs: 120_000, idleMs: 15 * 60_000 };

export class HostProxy implements PreviewProxy {
  readonly #ctx: Context;
  readonly #patience: Patience;
  readonly #tokenIn: ReturnType<typeof tokenReader>;
  readonly #connections: Connections;
  readonly #visits = new Set<Visit>();

  constructor(ctx: Context, patience = PATIENCE) {
    this.#ctx = ctx;
    this.#patience = patience;
    this.#tokenIn = tokenReader(ctx.config);
    this.#connections = new Connections(ctx);
    // Open streams would keep the listener from closing.
    ctx.shutdown.addEventListener('abort', () => {
      for (const visit of this.#visits) visit.end();
    });
  }

  handles(request: IncomingMessage): boolean {
    return this.#tokenOf(request) !== undefined;
  }

  request(request: IncomingMessage, response: ServerResponse): void {
    request.on('error', () => response.destroy());
    response.on('error', () => response.destroy());
    this.#serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.setHeader('x-headrace-version', this.#ctx.version);
      refuseRequest(request, response, this.#asApiError(error));
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    this.#join(request, socket, head).catch((error: unknown) =>
      refuseUpgrade(socket, this.#asApiError(error)),
    );
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = await this.#open(request);
    if (response.destroyed) return void connection.upstream.destroy();
    const visit = new RequestVisit(request, response, connection, this.#patience);
    this.#visits.add(visit);
    visit.relay(() => this.#visits.delete(visit));
  }

  async #join(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const connection = await this.#open(request);
    if (socket.destroyed) return void connection.upstream.destroy();
    const visit = new UpgradeVisit(socket, connection);
    this.#visits.add(visit);
    visit.relay(request, head, this.#patience, () => this.#visits.delete(visit));
  }

  #open(request: IncomingMessage): Promise<Connection> {
    return this.#connections.open(this.#tokenOf(request)!, request.socket.remoteAddress ?? '');
  }

  #tokenOf({ headers }: IncomingMessage): string | undefined {
    return this.#tokenIn(headers.host);
  }

  #asApiError(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    this.#ctx.log.error({ err: error }, 'a visit to a preview failed');
    return new ApiError('internal', 'Something failed on our side. Retry in a moment.', { cause: error });
  }
}
