/** The JSON of a call, bounded. */
import type { IncomingMessage } from 'node:http';
import { addAbortSignal } from 'node:stream';
import { GatewayError } from './wire-errors.ts';

const MIB = 1024 * 1024;
const BODY_BYTES = 32 * MIB;
/** For a body without a content-length. */
const UNSIZED_BYTES = 4 * MIB;
/**
 * Parsing costs by the value, not by the byte: 20 million empty objects fit into 64 MiB, and block the
 * process for half a minute. A long conversation with all its tools has about ten thousand values.
 */
const MOST_VALUES = 200_000;
/** Serializing JSON recurses. */
const DEEPEST = 500;

/** The body's content-length; null without one. */
export const bodyLength = ({ headers }: IncomingMessage): number | null =>
  headers['content-length'] === undefined ? null : Number(headers['content-length']);

/** The body as an object. Throws a GatewayError of 400 or 413, and when `signal` ends it. */
export async function readBody(req: IncomingMessage, signal: AbortSignal): Promise<Record<string, unknown>> {
  const length = bodyLength(req);
  const limit = length === null ? UNSIZED_BYTES : BODY_BYTES;
  const tooLarge = () =>
    new GatewayError(
      413,
      `The body has more than ${limit / MIB} MiB${length === null ? ', and no content-length' : ''}.`,
    );
  if (length !== null && length > limit) throw tooLarge();
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new GatewayError(400, 'A body with a content-encoding is not read here.');
  const chunks: Buffer[] = [];
  let size = 0;
  // The connection stays open, so that the agent can be answered that this is too large.
  for await (const chunk of addAbortSignal(signal, req).iterator({
    destroyOnReturn: false,
  }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  checkShape(bytes);
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new GatewayError(400, 'The body is no JSON.');
  }
  if (!isObject(body)) throw new GatewayError(400, 'The body has to be a JSON object.');
  return body;
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\,[]{}'].map(
  (one) => one.charCodeAt(0),
);

/** Counts values and levels outside of strings, at about 1 ms a MiB. */
function checkShape(bytes: Buffer): void {
  let values = 0;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === COMMA) values++;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++;
      depth++;
      if (depth > DEEPEST) throw new GatewayError(400, `The body is nested deeper than ${DEEPEST} levels.`);
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
  }
  if (values > MOST_VALUES) throw new GatewayError(400, `The body has more than ${MOST_VALUES} values.`);
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
