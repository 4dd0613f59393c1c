import { StringDecoder } from 'node:string_decoder';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { LOG_BYTES } from './schemas.ts';
import { appendLog } from './store.ts';
import type { Build } from './store.ts';

const EVERY_MS = 500;
/** Readers of a part read whole pieces; a journal entry is never cut. */
const PIECE_BYTES = 64 * 1024;
const MARK = '\n[The rest of the output was cut off.]\n';

/** The first `bytes` bytes of a text in UTF-8, or a few less: no character is cut. */
const firstBytes = (text: string, bytes: number) =>
  new StringDecoder('utf8').write(Buffer.from(text).subarray(0, bytes));

/**
 * Stores a build's output in pieces, each with its place in the runner's journal: the next worker continues
 * there.
 */
export class BuildLog {
  readonly #ctx: Context;
  readonly #job: Job;
  readonly #build: Build;
  readonly #onFault: () => void;
  #byteSize: number;
  #isTruncated: boolean;
  /** Whether the last piece ended in the middle of a line; unknown after a change of workers. */
  #isInLine = false;
  /** Pieces that are not stored yet, each with the last journal entry in it. */
  #pending: { through: number; text: string; bytes: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #storing = Promise.resolve();
  #fault: unknown;

  /** `onFault` is called when a piece cannot be stored. */
  constructor(ctx: Context, job: Job, build: Build, onFault: () => void) {
    this.#ctx = ctx;
    this.#job = job;
    this.#build = build;
    this.#onFault = onFault;
    this.#byteSize = build.logs_byte_size;
    this.#isTruncated = build.logs_truncated;
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
        this.#onFault();
      });
    return this.#storing;
  }

  async #store(): Promise<void> {
    if (this.#fault || !this.#pending.length) return;
    const pieces = this.#pending.map(({ through, text }) => ({
      org_id: this.#build.org_id,
      build_id: this.#build.id,
      journal_offset: through,
      content: text,
    }));
    const size = { byteSize: this.#byteSize, isTruncated: this.#isTruncated };
    this.#pending = [];
    await transaction(this.#ctx, async (tx) => {
      await this.#job.fence(tx);
      await appendLog(tx, pieces, size);
    });
    // Frees memory of the runner; nothing depends on it.
    await this.#ctx.runner.ack(this.#build.id, pieces.at(-1)!.journal_offset).catch(() => {});
  }
}
