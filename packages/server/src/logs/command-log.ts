import { StringDecoder } from 'node:string_decoder';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { LOG_BYTES } from './schemas.ts';

const EVERY_MS = 500;
/** Readers of a part read whole pieces; a journal entry is never cut. */
const PIECE_BYTES = 64 * 1024;
const MARK = '\n[The rest of the output was cut off.]\n';

/** Some output, with the last journal entry in it. */
export interface Piece {
  through: number;
  text: string;
}

/** The size of a whole log. */
export interface LogSize {
  byteSize: number;
  isTruncated: boolean;
}

/** A command whose output is stored. */
export interface Logged {
  /** The runner's id of its task. */
  taskId: string;
  /** What is stored of it already. */
  logs_byte_size: number;
  logs_truncated: boolean;
  /** Stores further pieces, and the size that the whole log has with them. */
  append(this: void, tx: Tx, pieces: Piece[], size: LogSize): Promise<void>;
  /** Called when a piece cannot be stored. */
  onFault(this: void): void;
}

/** The first `bytes` bytes of a text in UTF-8, or a few less: no character is cut. */
const firstBytes = (text: string, bytes: number) =>
  new StringDecoder('utf8').write(Buffer.from(text).subarray(0, bytes));

/**
 * Stores a command's output in pieces, each with its place in the runner's journal: the next worker continues
 * there.
 */
export class CommandLog {
  readonly #ctx: Context;
  readonly #job: Pick<Job, 'fence'>;
  readonly #of: Logged;
  #byteSize: number;
  #isTruncated: boolean;
  /** Whether the last piece ended in the middle of a line; unknown after a change of workers. */
  #isInLine = false;
  /** Pieces that are not stored yet. */
  #pending: (Piece & { bytes: number })[] = [];
  #timer: NodeJS.Timeout | undefined;
  #storing = Promise.resolve();
  #fault: unknown;

  constructor(ctx: Context, job: Pick<Job, 'fence'>, of: Logged) {
    this.#ctx = ctx;
    this.#job = job;
    this.#of = of;
    this.#byteSize = of.logs_byte_size;
    this.#isTruncated = of.logs_truncated;
  }

  /**
   * Takes a piece of output, cuts it at the log's limit, and stores it within half a second. Throws what
   * storing an earlier piece threw.
   */
  add(offset: number, text: string): void {
    if (this.#fault) throw this.#fault;
    if (this.#isTruncated) return;
    this.#isInLine = !text.endsWith('\n');
    let piece = clean(text);
    const left = LOG_BYTES - this.#byteSize;
    if (Buffer.byteLength(piece) > left) {
      piece = firstBytes(piece, left) + MARK;
      this.#isTruncated = true;
    }
    const bytes = Buffer.byteLength(piece);
    this.#byteSize += bytes;
    const last = this.#pending.at(-1);
    if (last && last.bytes + bytes <= PIECE_BYTES)
      Object.assign(last, { through: offset, text: last.text + piece, bytes: last.bytes + bytes });
    else this.#pending.push({ through: offset, text: piece, bytes });
    this.#timer ??= setTimeout(() => void this.#storeNext(), EVERY_MS);
  }

  /** Takes a line of the service's own, which begins after the output so far. */
  addLine(offset: number, text: string): void {
    this.add(offset, `${this.#isInLine ? '\n' : ''}${text}\n`);
  }

  /** Resolves when everything is stored. Throws what storing threw. */
  async flush(): Promise<void> {
    await this.#storeNext();
    if (this.#fault) throw this.#fault;
  }

  /** Stores what is pending once the piece before is stored. */
  #storeNext(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#storing = this.#storing
      .then(() => this.#store())
      .catch((error: unknown) => {
        this.#fault ??= error;
        this.#of.onFault();
      });
    return this.#storing;
  }

  async #store(): Promise<void> {
    if (this.#fault || !this.#pending.length) return;
    const pieces = this.#pending;
    const size = { byteSize: this.#byteSize, isTruncated: this.#isTruncated };
    this.#pending = [];
    await transaction(this.#ctx, async (tx) => {
      await this.#job.fence(tx);
      await this.#of.append(tx, pieces, size);
    });
    // Frees memory of the runner; nothing depends on it.
    await this.#ctx.runner.ack(this.#of.taskId, pieces.at(-1)!.through).catch(() => {});
  }
}
