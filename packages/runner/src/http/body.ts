import type { IncomingMessage } from 'node:http';
import type { Static, TSchema } from 'typebox';
import { RunnerError } from '../errors.ts';
import { check } from './validate.ts';

/** Room for 50,000 paths of 1,024 characters, or a repair's evidence. */
const BODY_BYTES = 256 * 1024 ** 2;

/** A request's JSON body, which matches this schema. Throws `invalid_request` 400, `too_large` 413. */
export async function readBody<S extends TSchema>(req: IncomingMessage, schema: S): Promise<Static<S>> {
  return check(schema, await readJson(req));
}

/** A request's body, parsed. Throws `invalid_request` 400, `too_large` 413. */
export async function readJson(req: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of req as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > BODY_BYTES) throw new RunnerError(413, 'too_large', 'The body is too large.');
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    throw new RunnerError(400, 'invalid_request', 'The body is not JSON.');
  }
}
