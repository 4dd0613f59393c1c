/** The host of the logs: a file store, where a log may be too long for a string. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface LongLog {
  size: number;
  /** The end of the log, in ASCII. Dots precede it. */
  end: string;
  knowsParts: boolean;
  /** The number of bytes that were requested from it. */
  sent: number;
}

const CHUNK = 64 * 1024;
const DOTS = Buffer.alloc(CHUNK, '.');

export async function sendLog(
  log: string | LongLog | undefined,
  range: string | undefined,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('content-type', 'text/plain');
  if (log === undefined) return void response.writeHead(404).end();
  if (typeof log === 'string') return void response.end(log);
  const part = log.knowsParts ? /^bytes=(\d+)-$/.exec(range ?? '') : null;
  const from = Number(part?.[1] ?? 0);
  if (log.knowsParts) response.setHeader('content-length', log.size - from);
  response.statusCode = part ? 206 : 200;
  // A client that has the end disconnects.
  await pipeline(Readable.from(bytesOf(log, from)), response).catch(() => undefined);
}

function* bytesOf(log: LongLog, from: number): Generator<Buffer> {
  const endAt = log.size - log.end.length;
  for (let at = from; at < endAt; at += CHUNK) {
    const dots = DOTS.subarray(0, endAt - at);
    log.sent += dots.length;
    yield dots;
  }
  yield Buffer.from(log.end.slice(Math.max(0, from - endAt)));
}
