import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { ApiError } from './errors.ts';

const MIB = 1024 * 1024;

type Done = (error: Error | null, body?: Buffer) => void;

/**
 * Reads a body of at most `limit` bytes. In place of Fastify's own reader, which joins what has come at the
 * body's end: of 33 MiB that held up all others for 40 ms. Where the length is given, each piece goes to
 * its place as it comes. On an error Fastify closes the connection behind the answer.
 */
export function readBody(request: FastifyRequest, payload: Readable, limit: number, done: Done): void {
  const header = request.headers['content-length'];
  const length = header === undefined ? null : Number(header);
  if (length !== null && length > limit) return done(tooLarge(limit));
  const whole = length === null ? null : Buffer.allocUnsafeSlow(length);
  const pieces: Buffer[] = [];
  let received = 0;
  const settle: Done = (error, body) => {
    payload.off('data', take).off('end', end).off('error', fail);
    done(error, body);
  };
  const take = (piece: Buffer) => {
    if (received + piece.length > (length ?? limit)) return settle(tooLarge(limit));
    if (whole) piece.copy(whole, received);
    else pieces.push(piece);
    received += piece.length;
  };
  const end = () => {
    if (length !== null && received !== length) settle(incomplete());
    else settle(null, whole ?? Buffer.concat(pieces, received));
  };
  const fail = (cause: Error) => settle(incomplete(cause));
  payload.on('data', take).on('end', end).on('error', fail);
}

const tooLarge = (limit: number) =>
  new ApiError('request_too_large', `The body is larger than ${sizeText(limit)}.`);
const sizeText = (bytes: number) => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / 1024} KiB`);
const incomplete = (cause?: unknown) =>
  new ApiError('invalid_request', 'The body ended before its end.', { cause });
