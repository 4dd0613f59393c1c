/**
 * Attempts at one request: again after faults that pass (SlowDown, resets, stalls, answers that were cut), with growing
 * pauses. Every attempt, pause and their sum has a limit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { withinTime } from '../within-time.ts';

export interface S3Limits {
  connectMs: number;
  /** Without a byte in either direction. */
  idleMs: number;
  /** Of one attempt, its answer's body included. */
  attemptMs: number;
  attempts: number;
  /** No attempt begins later than this after the first. */
  windowMs: number;
  /** The first pause; five times as long where the service says that it has too much to do. */
  pauseMs: number;
}

/** Together below what callers wait for a put (sources/stage.ts): the last attempt ends at 180 s. */
export const S3_LIMITS: S3Limits = {
  connectMs: 5_000,
  idleMs: 15_000,
  attemptMs: 120_000,
  attempts: 6,
  windowMs: 60_000,
  pauseMs: 100,
};

/** Of commands that read or write everything: a request that fails half a minute long must not end hours of work. */
export const PATIENT_S3_LIMITS: S3Limits = { ...S3_LIMITS, attempts: 14 };

const SLOW_FACTOR = 5;
const LONGEST_PAUSE_MS = 5_000;

/** An answer that is not what was asked for: cut, or with other bytes than were stored. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer';
}

/** `closed` ends pauses and attempts. Throws what the last attempt threw. */
export async function attempted<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  limits: S3Limits,
  closed: AbortSignal,
): Promise<T> {
  const last = performance.now() + limits.windowMs;
  for (let count = 1; ; count++) {
    try {
      return await withinTime(limits.attemptMs, (signal) => attempt(AbortSignal.any([signal, closed])));
    } catch (error) {
      const first = limits.pauseMs * (isSlow(error) ? SLOW_FACTOR : 1);
      const pause = growing(first, count);
      const isLast = count >= limits.attempts || performance.now() + pause > last;
      if (isLast || closed.aborted || !passes(error)) throw error;
      // Closed during the pause: the next attempt fails at once.
      await sleep(pause, undefined, { signal: closed }).catch(() => null);
    }
  }
}

/** Doubled each time; random, so that those who failed together do not come back together. */
function growing(first: number, count: number): number {
  return Math.min(LONGEST_PAUSE_MS, first * 2 ** (count - 1)) * (0.5 + Math.random() / 2);
}

export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;
}

const nameOf = (error: unknown) => (error as Error).name;
const isSlow = (error: unknown) => statusOf(error) === 503 || statusOf(error) === 429;

/** Refusals (4xx) that say that the request was damaged on its way, came too late, or may come again. */
const PASSING = new Set([
  'BadDigest',
  'IncompleteBody',
  'OperationAborted',
  'RequestTimeout',
  // The SDK corrects its clock by the answer.
  'RequestTimeTooSkewed',
  'XAmzContentSHA256Mismatch',
]);

/** Whether the same request may succeed later. All requests here may be repeated: a key is written once. */
function passes(error: unknown): boolean {
  const status = statusOf(error);
  // Without an answer, or with one that could not be read.
  if (status === undefined || status < 300) return nameOf(error) !== 'CredentialsProviderError';
  if (status >= 500) return status !== 501;
  return status === 429 || status === 408 || PASSING.has(nameOf(error));
}
