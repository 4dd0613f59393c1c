import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { ApiError } from './errors.ts';
import type { Arrival } from './intake.ts';

const MIB = 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;
const LIMIT_MS = 300_000;

type Done = (error: Error | null, body?: Buffer) => void;

/** What a request may send: `limit` bytes, where its address has room. */
export interface Allowance {
  limit: number;
  arrival: Arrival;
}

/**
 * Reads a body. In place of Fastify's own reader, which joins what has come at the body's end: of 33 MiB
 * that held up all others for 40 ms. Where the length is given, each piece goes to its place as it comes. On
 * an error Fastify closes the connection behind the answer.
 */
export function readBody(
  request: FastifyRequest,
  payload: Readable,
  { limit, arrival }: Allowance,
  done: Done,
): void {
  const header = request.headers['content-length'];
  const length = header === undefined ? null : Number(header);
  const blocks = new Blocks();
  let received = 0;
  const timer = setTimeout(() => settle(incomplete()), LIMIT_MS);
  const settle: Done = (error, body) => {
    clearTimeout(timer);
    payload.off('data', take).off('end', end).off('error', fail);
    done(error, body);
  };
  const takeRoom = (bytes: number) => {
    if (received + bytes > limit) throw tooLarge(limit);
    arrival.take(bytes);
  };
  const take = (piece: Buffer) => {
    try {
      if (whole) piece.copy(whole, received);
      else {
        takeRoom(piece.length);
        blocks.add(piece);
      }
      received += piece.length;
    } catch (error) {
      settle(error as Error);
    }
  };
  const end = () => {
    if (length !== null && received !== length) settle(incomplete());
    else settle(null, whole ?? blocks.joined(received));
  };
  const fail = (cause: Error) => settle(incomplete(cause));
  let whole: Buffer | undefined;
  try {
    if (length !== null) {
      takeRoom(length);
      whole = Buffer.allocUnsafeSlow(length);
    }
  } catch (error) {
    return settle(error as Error);
  }
  arrival.begin();
  payload.on('data', take).on('end', end).on('error', fail);
}

/**
 * A body of unknown length. Its pieces are copied: each of one byte, as a client may send them, would keep all
 * of the buffer in which it came.
 */
class Blocks {
  readonly #blocks: Buffer[] = [];
  /** What is free of the last block. */
  #free = Buffer.alloc(0);

  add(piece: Buffer): void {
    for (let left = piece; left.length > 0;) {
      if (this.#free.length === 0) this.#blocks.push((this.#free = Buffer.allocUnsafeSlow(BLOCK_BYTES)));
      const count = left.copy(this.#free);
      this.#free = this.#free.subarray(count);
      left = left.subarray(count);
    }
  }

  joined(byteSize: number): Buffer {
    return Buffer.concat(this.#blocks, byteSize);
  }
}

const tooLarge = (limit: number) =>
  new ApiError('request_too_large', `The body is larger than ${sizeText(limit)}.`);
const sizeText = (bytes: number) => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / 1024} KiB`);
const incomplete = (cause?: unknown) =>
  new ApiError('invalid_request', 'The body ended before its end.', { cause });
