import type { Context } from '../context.ts';
import type { Job } from '../jobs/job.ts';
import { limitConcurrency } from '../limit-concurrency.ts';
import { withinTime } from '../within-time.ts';
import { bringNewer, nextSource } from './bring-source.ts';
import { isOpen } from './state.ts';
import { findPreviewNow } from './store.ts';
import type { PreviewNow } from './store.ts';

/** A patch is whole in memory, and one move of a head can need fifty. */
const AT_ONCE = 2;
const limited = limitConcurrency(AT_ONCE);

/** Runners write a patch within two minutes. One that does not answer must not keep its place from others. */
const WRITE_MS = 300_000;

const RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;

/** Milliseconds until a source that was refused so often is tried again. */
export const retryDelay = (failures: number): number =>
  Math.min(RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);

interface Watch {
  /** Fires when the watch is over. */
  signal: AbortSignal;
  onWritten: () => void;
}

/**
 * Writes newer sources into a preview, one at a time. The watch does not wait for it: a write that hangs must
 * keep no preview open.
 */
export class NewerSources {
  readonly #ctx: Context;
  readonly #job: Job;
  readonly #watch: Watch;
  #isWriting = false;
  #refused: { sourceId: string | null; times: number; until: number } | undefined;

  constructor(ctx: Context, job: Job, watch: Watch) {
    this.#ctx = ctx;
    this.#job = job;
    this.#watch = watch;
  }

  /** Begins to write the source that the preview is to show, unless it has that, or waits after a refusal. */
  bring(preview: PreviewNow): void {
    const next = nextSource(preview);
    if (!next || this.#isWriting || this.#isRefused(next.id)) return;
    this.#isWriting = true;
    void limited(() => withinTime(WRITE_MS, (signal) => this.#write(preview.id, signal)))
      .catch((err: unknown) => this.#refuse(preview.id, next.id, err))
      .finally(() => {
        this.#isWriting = false;
        this.#watch.onWritten();
      });
  }

  /** Heads may have come while it waited for its place. */
  async #write(previewId: string, signal: AbortSignal): Promise<void> {
    if (this.#watch.signal.aborted) return;
    const now = await findPreviewNow(this.#ctx.db, previewId);
    const next = now && isOpen(now) ? nextSource(now) : undefined;
    if (next) await bringNewer({ ctx: this.#ctx, job: this.#job, signal }, now!, next.id);
    this.#refused = undefined;
  }

  #isRefused(sourceId: string | null): boolean {
    const refused = this.#refused;
    return refused !== undefined && refused.sourceId === sourceId && Date.now() < refused.until;
  }

  #refuse(previewId: string, sourceId: string | null, err: unknown): void {
    if (this.#watch.signal.aborted) return;
    const times = this.#refused?.sourceId === sourceId ? this.#refused.times + 1 : 1;
    this.#refused = { sourceId, times, until: Date.now() + retryDelay(times) };
    this.#ctx.log[times > 1 ? 'warn' : 'debug'](
      { err, previewId, sourceId, times },
      'a newer source was not written into a preview; it is tried again',
    );
  }
}
