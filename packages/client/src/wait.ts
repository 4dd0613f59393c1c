import { WaitTimeoutError } from './errors.ts';
import type { CallOptions } from './http.ts';

export interface WaitOptions extends CallOptions {
  /** The longest wait in ms; default 15 minutes. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 15 * 60_000;
/** How long the service holds a read open; below the 30 s that it allows, and below usual proxies' limits. */
const WAIT_SECONDS = 25;

/** Repeats a read that waits in the service until `isEnded`. Throws WaitTimeoutError. */
export async function waitUntil<T>(
  what: string,
  read: (waitSeconds: number, options: CallOptions) => Promise<T>,
  isEnded: (value: T) => boolean,
  { timeoutMs = TIMEOUT_MS, ...options }: WaitOptions = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const left = deadline - Date.now();
    if (left <= 0) throw new WaitTimeoutError(what, timeoutMs);
    const value = await read(Math.min(WAIT_SECONDS, Math.ceil(left / 1000)), options);
    if (isEnded(value)) return value;
  }
}
