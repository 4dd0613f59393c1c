/**
 * One connection of a host: a WebSocket, and inside it HTTP/2 with the service as the client. It lasts for as long as
 * both sides show signs of life.
 */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { CLOSED, PING_MS, SILENCE_MS } from '@headrace/runner/host/protocol';
import { sessionStream } from '@headrace/runner/host/session-stream';
import type { WebSocket } from 'ws';
import type { KnownHost } from './authenticate-host.ts';

export type Ending = keyof typeof CLOSED;

const REASONS: Record<Ending, string> = {
  replaced: 'Another program has connected with the token of this host.',
  refused: 'The token of this host counts no more.',
  deleted: 'The host was deleted.',
};

export class HostConnection {
  /** Names it among the connections of this process. */
  readonly id = randomUUID();
  readonly host: KnownHost;
  readonly session: ClientHttp2Session;
  /** Its number among the connections of all hosts: one that was dialed later has a higher one. */
  readonly epoch: number;
  /** Aborted once nothing more is asked over it. */
  readonly over = new AbortController();
  readonly #ws: WebSocket;
  #seenAt = performance.now();

  constructor(ws: WebSocket, host: KnownHost, epoch: number) {
    this.host = host;
    this.epoch = epoch;
    this.#ws = ws;
    this.session = connect('http://host', { createConnection: () => sessionStream(ws) });
    this.session.on('error', () => ws.terminate());
    this.session.on('close', () => this.over.abort());
    for (const sign of ['message', 'ping', 'pong']) ws.on(sign, () => (this.#seenAt = performance.now()));
    const pinging = setInterval(() => this.#ping(), PING_MS);
    ws.once('close', () => {
      clearInterval(pinging);
      this.over.abort();
      this.session.destroy();
    });
  }

  /** Since the last sign of life. */
  get silentMs(): number {
    return performance.now() - this.#seenAt;
  }

  onClosed(listener: () => void): void {
    this.#ws.once('close', listener);
  }

  /** Says why, and asks nothing more: what is said has to arrive, so the session goes with the WebSocket. */
  end(ending: Ending): void {
    this.over.abort();
    this.#ws.close(CLOSED[ending], REASONS[ending]);
  }

  /** The service stops: the program dials again. */
  leave(): void {
    this.over.abort();
    this.#ws.close(1001, 'The service stops.');
  }

  cut(): void {
    this.over.abort();
    this.#ws.terminate();
  }

  #ping(): void {
    if (this.silentMs > SILENCE_MS) this.cut();
    else if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }
}
