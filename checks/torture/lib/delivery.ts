/** A write that is sent again, with the same key, until it is answered: what a careful client does. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller, RawAnswer } from '../../harness/http.ts';
import type { Random } from '../../harness/random.ts';

export interface Write {
  method: string;
  path: string;
  body: object;
  key: string;
}

export interface Delivered extends RawAnswer {
  /** When it was sent for the first time, and answered for good, on the harness's clock. */
  sentAt: number;
  answeredAt: number;
  /** Attempts that no answer came to: the write may have happened. */
  unanswered: number;
}

/** Counts of the attempts whose answers were not the last ones. */
export interface Weather {
  /** Requests that were sent, and ended without an answer. */
  unanswered: number;
  /** Connections that were refused: the service did not live. */
  refused: number;
  unavailable: number;
  inProgress: number;
  /** Answers that are broken promises: 5xx but 503, 503 without Retry-After. */
  faults: string[];
}

export const newWeather = (): Weather => ({
  unanswered: 0,
  refused: 0,
  unavailable: 0,
  inProgress: 0,
  faults: [],
});

const ATTEMPT_LIMIT_MS = 30_000;
const DELIVERY_LIMIT_MS = 300_000;
const RETRY_MS = 30;

/**
 * Sends to a drawn one of `callers`, to another one at the next attempt. Throws when no final answer came
 * in five minutes.
 */
export async function deliver(
  callers: readonly Caller[],
  write: Write,
  { random, weather, signal }: { random: Random; weather: Weather; signal: AbortSignal },
): Promise<Delivered> {
  const sentAt = performance.now();
  let unanswered = 0;
  const heard = new Map<string, number>();
  const hear = (what: string) => heard.set(what, (heard.get(what) ?? 0) + 1);
  for (
    let at = random.below(callers.length), attempt = 0;
    performance.now() - sentAt < DELIVERY_LIMIT_MS;
    at++, attempt++
  ) {
    signal.throwIfAborted();
    let wait = RETRY_MS * Math.min(8, 2 ** attempt);
    try {
      const answer = await callers[at % callers.length]!.send(write.method, write.path, {
        body: write.body,
        headers: { 'idempotency-key': write.key },
        limitMs: ATTEMPT_LIMIT_MS,
        signal,
      });
      const again = retryIn(answer, write, weather);
      if (again === null) return { ...answer, sentAt, answeredAt: performance.now(), unanswered };
      hear(`${answer.status} ${answer.text.slice(0, 200)}`);
      wait = Math.max(wait, again);
    } catch (error) {
      signal.throwIfAborted();
      if (!isLost(error)) throw error;
      hear((error as Error).message);
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') {
        weather.refused++;
      } else {
        unanswered++;
        weather.unanswered++;
      }
    }
    await sleep(wait * (0.5 + random.next()), undefined, { signal });
  }
  throw new Error(
    `${write.method} ${write.path} with key ${write.key} was not answered within ${DELIVERY_LIMIT_MS / 1000} s: ${[...heard].map(([what, times]) => `${times} × ${what}`).join('; ')}`,
  );
}

/** Milliseconds until the next attempt; null when this answer is the last one. */
function retryIn(
  { status, headers, text }: RawAnswer,
  { method, path }: Write,
  weather: Weather,
): number | null {
  if (status === 503) {
    weather.unavailable++;
    const after = Number(headers['retry-after']);
    if (!(after > 0))
      weather.faults.push(`${method} ${path}: 503 without Retry-After: ${text.slice(0, 300)}`);
    return Math.min(2, after || 1) * 1000;
  }
  if (status >= 500) {
    weather.faults.push(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
    return 1000;
  }
  if (status !== 409 || !text.includes('"request_in_progress"')) return null;
  weather.inProgress++;
  return 50;
}

/** Whether a connection ended, or could not be made, before the answer was whole. */
function isLost(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return (
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(
      code ?? '',
    ) || /socket hang up|aborted|no answer within/.test(message)
  );
}
