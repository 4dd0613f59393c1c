import { Readable } from 'node:stream';
import type { Socket } from 'node:net';

/** Bytes per stream that may wait for a reader before the container has to. */
const WAITING_BYTES = 256 * 1024;
const HEADER_BYTES = 8;

/** The two outputs of a container. */
interface Outputs {
  stdout: Readable;
  stderr: Readable;
}

/**
 * Splits the output of an attached container into streams: frames of one byte for the stream (1 stdout, 2
 * stderr), three zero bytes, four for the length (big endian), then the bytes. Until `release` it reads no
 * further than the slower reader.
 */
export class Frames implements Outputs {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when no more output can come. */
  readonly ended: Promise<void>;
  #socket: Socket | undefined;
  #header = Buffer.alloc(0);
  #left = 0;
  #into: Readable | undefined;
  #isReleased = false;
  #isOver = false;
  readonly #full = new Set<Readable>();
  #end!: () => void;

  constructor() {
    this.stdout = this.#output();
    this.stderr = this.#output();
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Starts reading; the socket's end is the streams' end. */
  attach(socket: Socket, head: Buffer): void {
    this.#socket = socket;
    socket
      .on('data', (part: Buffer) => this.#take(part))
      .once('close', () => this.end())
      .once('end', () => this.end());
    if (head.length > 0) this.#take(head);
  }

  /** Takes the remaining output whether or not anybody reads: no more than the engine's own buffers hold. */
  release(): void {
    this.#isReleased = true;
    this.#socket?.resume();
  }

  /** Ends both streams and the connection. Idempotent. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const output of [this.stdout, this.stderr]) output.push(null);
    this.#socket?.destroy();
    this.#end();
  }

  #output(): Readable {
    const output: Readable = new Readable({
      highWaterMark: WAITING_BYTES,
      read: () => {
        this.#full.delete(output);
        if (this.#full.size === 0) this.#socket?.resume();
      },
    });
    return output;
  }

  #take(part: Buffer): void {
    for (let at = 0; at < part.length && !this.#isOver;) {
      if (this.#left === 0) at += this.#readHeader(part.subarray(at));
      const bytes = part.subarray(at, at + this.#left);
      at += bytes.length;
      this.#left -= bytes.length;
      if (bytes.length > 0 && this.#into && !this.#into.destroyed && !this.#into.push(bytes))
        this.#full.add(this.#into);
    }
    if (this.#full.size > 0 && !this.#isReleased) this.#socket?.pause();
  }

  /** Returns how many bytes belong to the header. */
  #readHeader(part: Buffer): number {
    const wanted = HEADER_BYTES - this.#header.length;
    this.#header = Buffer.concat([this.#header, part.subarray(0, wanted)]);
    if (this.#header.length < HEADER_BYTES) return part.length;
    this.#into = this.#header[0] === 2 ? this.stderr : this.stdout;
    this.#left = this.#header.readUInt32BE(4);
    this.#header = Buffer.alloc(0);
    return wanted;
  }
}
