import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ApiError } from '../../http/errors.ts';

export const tooLarge = (limit: number) =>
  new ApiError('request_too_large', `The body is larger than ${limit} bytes.`);
const incomplete = (cause: unknown) =>
  new ApiError('invalid_request', 'The body is incomplete. Send it again.', { cause });

/** Throws 413 where the request says that it is too large, and 415 for an encoding other than gzip. */
export function checkBody({ headers }: IncomingMessage, limit: number): void {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  if (!['identity', 'gzip', 'x-gzip'].includes(headers['content-encoding'] ?? 'identity'))
    throw new ApiError('unsupported_media_type', 'Send the body uncompressed or with gzip.');
}

/**
 * Sends the body to git at git's pace, decompressed. Once git takes no more of it, the rest is read and dropped:
 * the caller's answer waits for its end. Throws 413 behind `limit` bytes, and 400 where the body is no gzip or
 * ends early.
 */
export async function sendBody(request: IncomingMessage, input: Writable, limit: number): Promise<void> {
  const body = decoded(request);
  let size = 0;
  try {
    // The request is left whole: its connection still has to carry the answer.
    for await (const part of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > limit) throw tooLarge(limit);
      if (!input.destroyed && !input.write(part)) await takesMore(input);
    }
  } catch (error) {
    throw error instanceof ApiError ? error : incomplete(error);
  }
  input.end();
}

function decoded(request: IncomingMessage): Readable {
  if (!request.headers['content-encoding']?.endsWith('gzip')) return request;
  const gunzip = createGunzip();
  request.once('error', (error) => gunzip.destroy(error));
  return request.pipe(gunzip);
}

const takesMore = (input: Writable): Promise<void> =>
  new Promise((resolve) => {
    const go = () => {
      input.off('drain', go).off('close', go);
      resolve();
    };
    input.once('drain', go).once('close', go);
    if (input.destroyed) go();
  });
