import { StringDecoder } from 'node:string_decoder';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/worker.ts';
import { clean } from '../db/clean-text.ts';
import { LOG_BYTES } from './schemas.ts';
import type { Build } from './view.ts';

const EVERY_MS = 500;
const MARK = '\n[The rest of the output was cut off.]\n';

export interface BuildLog {
  /**
   * Takes a piece of output; stored within half a second, cut at the log's limit. Throws what storing an
   * earlier piece threw.
   */
  add(offset: number, text: string): void;
  /** Resolves when everything is stored. */
  flush(): Promise<void>;
  /** Gives up what is not stored. */
  close(): void;
}

/** The first `bytes` bytes of a text in UTF-8, without half a character. */
const firstBytes = (text: string, bytes: number) =>
  new StringDecoder('utf8').write(Buffer.from(text).subarray(0, bytes));

/**
 * Stores a build's output in pieces, each with its place in the runner's journal: the worker after this one
 * goes on behind it. `onFault` is told when a piece cannot be stored.
 */
export function openBuildLog(ctx: Context, job: Job, build: Build, onFault: () => void): BuildLog {
  let { logs_byte_size: byteSize, logs_truncated: isTruncated } = build;
  let pending: string[] = [];
  let through = -1;
  let timer: NodeJS.Timeout | undefined;
  let fault: unknown;
  let storing = Promise.resolve();

  async function store(): Promise<void> {
    if (fault || !pending.length) return;
    const [content, offset, bytes, cut] = [pending.join(''), through, byteSize, isTruncated];
    pending = [];
    await transaction(ctx, async (tx) => {
      await job.fence(tx);
      await tx.db
        .insertInto('build_logs')
        .values({ org_id: build.org_id, build_id: build.id, journal_offset: offset, content })
        .execute();
      await tx.db
        .updateTable('builds')
        .set({ journal_offset: offset, logs_byte_size: bytes, logs_truncated: cut })
        .where('id', '=', build.id)
        .execute();
    });
    // Only spares the runner's memory.
    await ctx.runner.ack(build.id, offset).catch(() => {});
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    storing = storing.then(store).catch((error: unknown) => {
      fault ??= error;
      onFault();
    });
    return storing;
  }

  return {
    add(offset, text) {
      if (fault) throw fault;
      if (isTruncated) return;
      let piece = clean(text);
      const left = LOG_BYTES - byteSize;
      if (Buffer.byteLength(piece) > left) {
        piece = firstBytes(piece, left) + MARK;
        isTruncated = true;
      }
      byteSize += Buffer.byteLength(piece);
      pending.push(piece);
      through = offset;
      timer ??= setTimeout(() => void flush(), EVERY_MS);
    },
    async flush() {
      await flush();
      if (fault) throw fault;
    },
    close() {
      clearTimeout(timer);
    },
  };
}
