/**
 * Server-sent events: framing, backpressure, and the cut of readers that are too slow. Knows nothing of
 * what is sent.
 */
import type { ServerResponse } from 'node:http';

/** Live bytes that may wait for a reader before it is disconnected. */
const WAITING_LIMIT = 1024 * 1024;

/** What an ended stream's reader has not taken by then is thrown away with its connection. */
const END_LIMIT_MS = 3_000;

/** One frame. `data` becomes one line of JSON. */
export function sseFrame(event: string, data: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

export interface SseConnection {
  /**
   * Sends frames now; false when the reader does not keep up: wait for `drained` before sending what can
   * wait.
   */
  send(frames: string): boolean;
  /** The same for what cannot wait. A reader for whom over 1 MiB waits already is disconnected instead. */
  sendLive(frames: string): boolean;
  /**
   * True when the reader has taken what was sent; false when it has gone, or takes nothing for `limitMs`:
   * it is cut then.
   */
  drained(limitMs: number): Promise<boolean>;
  isCongested(): boolean;
  end(): void;
  /** Called once, when the reader is gone or `end` was called. */
  onClose(listener: () => void): void;
}

/** Answers 200 and begins the stream. `headers` are sent in addition to the stream's own. */
export function openSse(response: ServerResponse, headers: Record<string, string>): SseConnection {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  const listeners: (() => void)[] = [];
  let isOpen = !response.destroyed;
  const closed = () => {
    isOpen = false;
    for (const listener of listeners.splice(0)) listener();
  };
  response.on('close', closed);
  response.on('error', () => {});

  // Bytes: of text the response counts bytes and its socket characters, and then nobody says that it has
  // drained.
  const send = (frames: string) => isOpen && !response.destroyed && response.write(Buffer.from(frames));
  return {
    send,
    sendLive(frames) {
      if (response.writableLength > WAITING_LIMIT) {
        response.destroy();
        return false;
      }
      return send(frames);
    },
    drained(limitMs) {
      if (!isOpen || !response.writableNeedDrain) return Promise.resolve(isOpen);
      return new Promise((resolve) => {
        const timer = setTimeout(() => response.destroy(), limitMs);
        const done = () => {
          clearTimeout(timer);
          response.off('drain', done).off('close', done);
          resolve(isOpen && !response.destroyed);
        };
        response.on('drain', done).on('close', done);
      });
    },
    isCongested: () => isOpen && response.writableNeedDrain,
    end() {
      if (!isOpen) return;
      response.end();
      const limit = setTimeout(() => response.destroy(), END_LIMIT_MS).unref();
      response.on('close', () => clearTimeout(limit));
      closed();
    },
    onClose(listener) {
      if (isOpen) listeners.push(listener);
      else listener();
    },
  };
}
