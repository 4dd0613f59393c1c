import type { IncomingMessage } from 'node:http';
import { RunnerError } from '../errors.ts';

/** 10,000 paths of 1,024 characters, or a repair's evidence. */
const BODY_BYTES = 128 * 1024 ** 2;

/** A request's JSON body. Throws 400, 413. */
export async function jsonBody<T>(req: IncomingMessage): Promise<T> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of req as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > BODY_BYTES) throw new RunnerError(413, 'too_large', 'The body is too large.');
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString()) as T;
  } catch {
    throw new RunnerError(400, 'invalid_request', 'The body is not JSON.');
  }
}
