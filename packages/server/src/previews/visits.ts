/**
 * What passes between one visitor and one preview: a request with its answer, or a WebSocket. Each has a
 * connection to the sandbox for itself.
 */
import { request as httpRequest, STATUS_CODES } from 'node:http';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '../http/errors.ts';
import type { Connection } from './connections.ts';
import { toPreview, toVisitor } from './proxy-headers.ts';
import { refuseRequest } from './refuse-visit.ts';

/** A server that is silent for this long counts as dead: before its answer, and within it. */
export interface Patience {
  answerMs: number;
  idleMs: number;
}

export interface Visit {
  /** Breaks it off. */
  end(): void;
}

/** Finds visitors who left without closing: an open WebSocket may be silent for long. */
const KEEPALIVE_MS = 30_000;

export class RequestVisit implements Visit {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: Connection;
  readonly #patience: Patience;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    patience: Patience,
  ) {
    this.#request = request;
    this.#response = response;
    this.#connection = connection;
    this.#patience = patience;
  }

  end(): void {
    this.#connection.upstream.destroy();
    this.#response.destroy();
    this.#request.destroy();
  }

  /** `onGone` is called when nothing of the visit is left. */
  relay(onGone: () => void): void {
    this.#followClose(onGone);
    const request = this.#request;
    const asked = ask(request, this.#connection.upstream, { isUpgrade: false });
    const dead = () => this.#breakOff();
    asked.setTimeout(this.#patience.answerMs, dead);
    // An answer that does not fit the request, such as an upgrade, ends in `close` without `response`.
    asked.once('error', dead).once('close', () => {
      if (!this.#response.headersSent) dead();
    });
    asked.once('response', (answer) => {
      asked.setTimeout(this.#patience.idleMs, dead);
      this.#answer(answer);
    });
    // Node would send the head with the body's first bytes, which may come late, or wait for the answer.
    if (request.headers['content-length'] ?? request.headers['transfer-encoding']) asked.flushHeaders();
    request.pipe(asked);
  }

  #followClose(onGone: () => void): void {
    const request = this.#request;
    this.#response.once('close', () => {
      this.#connection.upstream.destroy();
      // The rest of a body that the answer did not wait for is read and dropped. Otherwise the connection
      // would be stuck, for the next request and for the listener's end.
      request.unpipe().resume();
      if (request.complete || request.closed) onGone();
      else request.once('close', onGone);
    });
  }

  #answer(answer: IncomingMessage): void {
    const dead = () => this.#breakOff();
    answer.once('error', dead).once('aborted', dead);
    try {
      this.#response.writeHead(
        answer.statusCode!,
        toVisitor(answer, this.#connection.preview.frameAncestors),
      );
    } catch {
      return dead();
    }
    answer.pipe(this.#response);
  }

  #breakOff(): void {
    this.#connection.upstream.destroy();
    if (this.#response.headersSent) this.#response.destroy();
    else
      refuseRequest(
        this.#request,
        this.#response,
        new ApiError('bad_gateway', "The preview's server broke its answer off."),
      );
  }
}

export class UpgradeVisit implements Visit {
  readonly #socket: Duplex;
  readonly #connection: Connection;

  constructor(socket: Duplex, connection: Connection) {
    this.#socket = socket;
    this.#connection = connection;
  }

  end(): void {
    this.#connection.upstream.destroy();
    this.#socket.destroy();
  }

  /** `head` is what the visitor sent after the request. `onGone` is called when the visit is over. */
  relay(request: IncomingMessage, head: Buffer, { answerMs }: Patience, onGone: () => void): void {
    const { upstream } = this.#connection;
    const end = () => this.end();
    this.#socket.once('close', () => {
      onGone();
      upstream.destroy();
    });
    upstream.once('close', () => this.#socket.end());
    const asked = ask(request, upstream, { isUpgrade: true });
    asked.setTimeout(answerMs, end);
    asked.once('error', end);
    asked.once('upgrade', (answer, inside, first) => {
      asked.setTimeout(0);
      this.#join(answer, inside, first, head);
    });
    asked.once('response', (answer) => this.#refuse(answer));
    asked.end();
  }

  #join(answer: IncomingMessage, inside: Duplex, first: Buffer, head: Buffer): void {
    const socket = this.#socket;
    keepAlive(socket);
    socket.write(
      headOf(answer, { ...toVisitor(answer, null), connection: ['Upgrade'], upgrade: ['websocket'] }),
      'latin1',
    );
    if (first.length) socket.write(first);
    if (head.length) inside.write(head);
    socket.pipe(inside).pipe(socket);
  }

  /**
   * Passes the preview's refusal on and ends the connection, so that nothing more on it is sent to the
   * preview.
   */
  #refuse(answer: IncomingMessage): void {
    answer.once('error', () => this.end());
    const headers = toVisitor(answer, this.#connection.preview.frameAncestors);
    this.#socket.write(headOf(answer, { ...headers, connection: ['close'] }), 'latin1');
    answer.pipe(this.#socket);
  }
}

function keepAlive(socket: Duplex): void {
  if (socket instanceof Socket) socket.setKeepAlive(true, KEEPALIVE_MS);
}

function ask(request: IncomingMessage, upstream: Duplex, kind: { isUpgrade: boolean }): ClientRequest {
  return httpRequest({
    method: request.method,
    path: pathOf(request.url!),
    headers: toPreview(request, kind),
    createConnection: () => upstream,
    setHost: false,
  });
}

/** The path alone: a request may name its target in full, but the Host header has decided already. */
const pathOf = (url: string) => url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');

const headOf = (answer: IncomingMessage, headers: Record<string, string[]>) =>
  `HTTP/1.1 ${answer.statusCode} ${STATUS_CODES[answer.statusCode!] ?? 'Unknown'}\r\n${Object.entries(headers)
    .flatMap(([name, values]) => values.map((value) => `${name}: ${value}\r\n`))
    .join('')}\r\n`;
