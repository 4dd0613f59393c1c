/** The JSON of a call, bounded. */
import type { IncomingMessage } from 'node:http';
import { GatewayError } from './wire-errors.ts';

export const BODY_BYTES = 64 * 1024 * 1024;

/** The body as an object. Throws a GatewayError of 400 or 413. */
export async function readBody(req: IncomingMessage, limit = BODY_BYTES): Promise<Record<string, unknown>> {
  const tooLarge = () => new GatewayError(413, `The body has more than ${limit / 1024 / 1024} MiB.`);
  if (Number(req.headers['content-length'] ?? 0) > limit) throw tooLarge();
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') throw new GatewayError(400, 'A body with a content-encoding is not read here.');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new GatewayError(400, 'The body is no JSON.');
  }
  if (!isObject(body)) throw new GatewayError(400, 'The body has to be a JSON object.');
  return body;
}

export const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
