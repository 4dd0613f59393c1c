import type { Readable } from 'node:stream';
import { createHash, hash } from 'node:crypto';
import { RunnerError } from '../errors.ts';

const NUL = Buffer.alloc(1),
  RECORDS_END = Buffer.alloc(2);

/**
 * Reads exact numbers of bytes from a stream. Every method throws `changed` 409 when the stream ends too
 * early.
 */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** NUL-terminated records up to and including an empty one. Throws `too_large` 413. */
  async records(maxBytes: number): Promise<Buffer> {
    const parts = [this.#rest];
    let size = this.#rest.length;
    // The end is two NULs, or one where there are no records; it may span two chunks.
    let tail: Buffer = Buffer.concat([NUL, this.#rest]);
    while (!tail.includes(RECORDS_END)) {
      if (size > maxBytes)
        throw new RunnerError(413, 'too_large', 'The workspace holds too many entries to be captured.');
      const chunk = await this.#chunk();
      parts.push(chunk);
      size += chunk.length;
      tail = Buffer.concat([tail.subarray(-1), chunk]);
    }
    const whole = Buffer.concat(parts);
    const length = Buffer.concat([NUL, whole]).indexOf(RECORDS_END) + 1;
    this.#rest = whole.subarray(length);
    return whole.subarray(0, length);
  }

  async read(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.pieces(length)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** SHA-256 of the next bytes, in hex; `also` gets them, too. */
  async sha256(length: number, also?: { push(piece: Buffer): void }): Promise<string> {
    if (this.#rest.length >= length) {
      // one call for a small file: half the time of a Hash object
      const bytes = this.#rest.subarray(0, length);
      const digest = hash('sha256', bytes, 'hex');
      also?.push(bytes);
      this.#rest = this.#rest.subarray(length);
      return digest;
    }
    const sum = createHash('sha256');
    for await (const part of this.pieces(length)) {
      sum.update(part);
      also?.push(part);
    }
    return sum.digest('hex');
  }

  async *pieces(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0) this.#rest = await this.#chunk();
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** All remaining bytes. */
  async *rest(): AsyncGenerator<Buffer> {
    if (this.#rest.length > 0) yield this.#rest;
    for (let next = await this.#chunks.next(); !next.done; next = await this.#chunks.next()) yield next.value;
  }

  /** Throws `changed` when any bytes remain. */
  async end(): Promise<void> {
    if (this.#rest.length > 0 || !(await this.#chunks.next()).done) throw changed();
  }

  async #chunk(): Promise<Buffer> {
    const next = await this.#chunks.next();
    if (next.done) throw changed();
    return next.value;
  }
}

const changed = (): RunnerError => new RunnerError(409, 'changed', 'The workspace is not as it was listed.');
