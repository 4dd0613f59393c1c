/**
 * The threads that search sources, and who may use them. A page of a search has two seconds: jobs end early by
 * themselves, and what hangs in one line is ended with its thread.
 */
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { ApiError } from '../../http/errors.ts';
import { retryHeaders } from '../../http/rate-limit.ts';
import type { Answer, Job, SearchJob, SelectJob } from './protocol.ts';
import { takingTurns } from './turns.ts';

declare module '../../context.ts' {
  interface Context {
    /** Searches in sources, off the event loop. */
    searches: SearchPool;
  }
}

/** Pages under way: of all callers, and of one organization. */
const MAX_PAGES = 32;
const MAX_PAGES_OF_ONE = 8;
const MAX_THREADS = 4;
const MAX_HEAP_MIB = 256;
const IDLE_MS = 30_000;

export class SearchPool {
  readonly size = Math.min(Math.max(availableParallelism(), 2), MAX_THREADS);
  /** For batches that are read or searched: for each thread one at work, and one that is ready. */
  readonly inTurn = takingTurns(this.size * 2);
  /** For jobs that may hang in one line: one organization leaves a thread to the others. */
  readonly patiently = takingTurns(Infinity, Math.max(this.size - 1, 1));
  /** Nothing waits within piscina: it keeps no turns, and starts no thread for what waits there. */
  readonly #atWork = takingTurns(this.size);
  readonly #threads = new Piscina<Job, Answer>({
    filename: new URL('./search.worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: this.size,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  readonly #pagesOf = new Map<string, number>();
  #pages = 0;

  /** A place for a page; throws 429 where `orgId` has too many, 503 where all have. Call what it returns at the end. */
  enter(orgId: string): () => void {
    const own = this.#pagesOf.get(orgId) ?? 0;
    if (own >= MAX_PAGES_OF_ONE)
      throw new ApiError('rate_limited', 'Too many searches of this organization are under way.', {
        headers: retryHeaders(1),
      });
    if (this.#pages >= MAX_PAGES) throw noRoom();
    this.#pages++;
    this.#pagesOf.set(orgId, own + 1);
    return () => {
      this.#pages--;
      const left = this.#pagesOf.get(orgId)! - 1;
      if (left) this.#pagesOf.set(orgId, left);
      else this.#pagesOf.delete(orgId);
    };
  }

  /**
   * Runs a job when it is the turn of `orgId`. Null if it was ended because `signal` was aborted, before or while it
   * ran. Buffers are handed over.
   */
  run(orgId: string, job: SelectJob | SearchJob, signal: AbortSignal): Promise<Answer | null> {
    return this.#atWork(orgId, () => this.#run(job, signal));
  }

  async #run(job: SelectJob | SearchJob, signal: AbortSignal): Promise<Answer | null> {
    if (signal.aborted) return null;
    const transferList = job.kind === 'search' ? job.ranges.map(({ buffer }) => buffer) : [];
    try {
      return await this.#threads.run(job, { transferList: transferList as never, signal });
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#threads.destroy();
  }
}

export const noRoom = () =>
  new ApiError('unavailable', 'The service has no room for this search now. Retry in a moment.', {
    headers: retryHeaders(1),
  });
