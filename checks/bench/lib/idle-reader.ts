/**
 * A reader of an event stream on a bare socket: thousands of them have to cost the benchmark's process
 * little.
 */
import { connect } from 'node:net';

const ANSWER_LIMIT_MS = 30_000;

export interface IdleReader {
  /**
   * Resolves with the time (`performance.now()`) at which a frame with this text was read. Ask before it
   * can come.
   */
  sees(text: string): Promise<number>;
  close(): void;
}

/**
 * Resolves when the stream has sent its first heartbeat: it is live then, or about to be. Throws on any
 * status but 200.
 */
export function openReader(base: string, path: string, key: string): Promise<IdleReader> {
  const { hostname, port, host } = new URL(base);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const timer = setTimeout(
      () => socket.destroy(new Error('The stream did not begin in time')),
      ANSWER_LIMIT_MS,
    );
    let rest = '';
    let waiting: { text: string; seen: (at: number) => void; gone: (error: Error) => void } | null = null;
    const reader: IdleReader = {
      sees: (text) =>
        new Promise((seen, gone) => {
          if (socket.destroyed) gone(new Error('The stream has ended'));
          waiting = { text, seen, gone };
        }),
      close: () => socket.destroy(),
    };
    const take = (part: string) => {
      rest += part;
      if (waiting && rest.includes(waiting.text)) {
        waiting.seen(performance.now());
        waiting = null;
      }
      rest = rest.slice(rest.lastIndexOf('\n\n') + 2);
    };
    const begin = (part: string) => {
      rest += part;
      if (rest.length >= 13 && !rest.startsWith('HTTP/1.1 200 '))
        return void socket.destroy(new Error(`Unexpected answer: ${rest.slice(0, 300)}`));
      if (!rest.includes('event: heartbeat')) return;
      clearTimeout(timer);
      socket.off('data', begin).on('data', take);
      resolve(reader);
    };
    socket
      .setEncoding('latin1')
      .on('data', begin)
      .once('connect', () =>
        socket.write(
          `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${key}\r\naccept: text/event-stream\r\n\r\n`,
        ),
      );
    socket
      .on('error', (error) => {
        clearTimeout(timer);
        reject(error);
        waiting?.gone(error);
      })
      .on('close', () => {
        reject(new Error('The stream was closed'));
        waiting?.gone(new Error('The stream was closed'));
      });
  });
}
