/**
 * JSON bodies over 1 MiB are parsed, checked and fingerprinted in threads: 60 MiB of keys are three seconds
 * of work, for which no other request should wait. What does not fit its schema never comes back to the
 * event loop but for its faults.
 */
import { Piscina } from 'piscina';
import { owned } from '../buffers.ts';
import { ApiError, invalid } from './errors.ts';
import type { Field } from './errors.ts';
import type { JsonAnswer, JsonJob } from './json-job.ts';
import { retryHeaders } from './rate-limit.ts';

export const LARGE_BYTES = 1024 * 1024;

const THREADS = 2;
const MAX_HEAP_MIB = 1_024;
/** Bodies that wait or are parsed: of all callers, and of one organization. */
const MAX_JOBS = 256;
const MAX_JOBS_OF_ONE = 64;
const LIMIT_MS = 60_000;
const IDLE_MS = 30_000;

export type LargeBody = Exclude<JsonAnswer, { refusal: Field[] }>;

export class LargeJson {
  readonly #threads = new Piscina<JsonJob, JsonAnswer>({
    filename: new URL('./large-json.worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: THREADS,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  readonly #jobsOf = new Map<string, number>();
  #jobs = 0;

  /** `job.bytes` is handed over. Throws 400, 429 where `orgId` has too many under way, 503 where all have. */
  async parse(orgId: string, job: JsonJob): Promise<LargeBody> {
    const leave = this.#enter(orgId);
    const bytes = owned(job.bytes);
    let answer: JsonAnswer;
    try {
      answer = await this.#threads.run(
        { ...job, bytes },
        { transferList: [bytes.buffer] as never, signal: AbortSignal.timeout(LIMIT_MS) },
      );
    } catch (cause) {
      throw new ApiError('unavailable', 'The body could not be parsed in time. Retry in a moment.', {
        cause,
      });
    } finally {
      leave();
    }
    if ('refusal' in answer) throw invalid(...answer.refusal);
    return answer;
  }

  close(): Promise<void> {
    return this.#threads.destroy();
  }

  #enter(orgId: string): () => void {
    const own = this.#jobsOf.get(orgId) ?? 0;
    if (own >= MAX_JOBS_OF_ONE)
      throw new ApiError('rate_limited', 'Too many large bodies of this organization are being parsed.', {
        headers: retryHeaders(1),
      });
    if (this.#jobs >= MAX_JOBS)
      throw new ApiError('unavailable', 'Too many large bodies are being parsed. Retry in a moment.');
    this.#jobs++;
    this.#jobsOf.set(orgId, own + 1);
    return () => {
      this.#jobs--;
      const left = this.#jobsOf.get(orgId)! - 1;
      if (left) this.#jobsOf.set(orgId, left);
      else this.#jobsOf.delete(orgId);
    };
  }
}
