/** How a reader waits for the service: without end, with full jitter, at least as long as the service asks. */
import { HeadraceError } from '../errors.ts';
import { sleep } from '../http.ts';

export type ReaderState =
  | { state: 'connecting' }
  | { state: 'open' }
  /** The connection was lost or refused, for the `attempt`th time without an event in between. */
  | { state: 'waiting'; reason: HeadraceError; attempt: number; nextAttemptAt: Date }
  /** Events may be missing: read what they describe again. */
  | { state: 'reset'; code: ResetCode };

export type ResetCode = 'cursor_expired' | 'cursor_scope_changed';

export interface PatienceOptions {
  signal?: AbortSignal | undefined;
  /** Called at each change of the connection. */
  onState?: (state: ReaderState) => void;
  /** Called when anything arrives, also heartbeats and empty pages: everything up to now is known. */
  onHeard?: () => void;
}

const FIRST_MS = 250;
const LONGEST_MS = 30_000;
/** The longest Retry-After that is honoured: after this long, one more request costs little. */
const LONGEST_ASKED_MS = 10 * 60_000;

/** The timeout of a read that is repeated here: it may be a long poll. */
export const ONE_ATTEMPT = { attempts: 1, attemptTimeoutMs: 45_000 };

export class Patience {
  readonly #signal: AbortSignal | undefined;
  readonly #onState: (state: ReaderState) => void;
  #failures = 0;

  constructor({ signal, onState }: PatienceOptions) {
    this.#signal = signal;
    this.#onState = onState ?? (() => {});
  }

  enter(state: ReaderState): void {
    this.#onState(state);
  }

  /** The next failure is the first again. */
  succeed(): void {
    this.#failures = 0;
  }

  /** Waits for the next attempt; throws errors that no attempt would change, and the signal's reason. */
  async wait(error: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    const reason = failureOf(error);
    if (!isPassing(reason)) throw reason;
    const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#failures);
    this.#failures++;
    const delay = Math.min(LONGEST_ASKED_MS, reason.retryAfterMs ?? 0) + Math.random() * ceiling;
    const nextAttemptAt = new Date(Date.now() + delay);
    this.#onState({ state: 'waiting', reason, attempt: this.#failures, nextAttemptAt });
    await sleep(delay, this.#signal);
  }
}

/** The result of a read that is repeated until the service answers. */
export async function persistently<T>(options: PatienceOptions, read: () => Promise<T>): Promise<T> {
  for (const patience = new Patience(options); ;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof HeadraceError)) throw error;
      await patience.wait(error);
    }
  }
}

/** A broken connection does not throw a HeadraceError, but means the same as no answer. */
function failureOf(error: unknown): HeadraceError {
  if (error instanceof HeadraceError) return error;
  const message = `The stream was lost: ${error instanceof Error ? error.message : String(error)}`;
  return new HeadraceError(0, 'network_error', message, { cause: error });
}

/** Whether a later attempt may succeed. A read of the feeds is repeated after any fault of the service. */
const isPassing = ({ status }: HeadraceError): boolean =>
  status === 0 || status === 408 || status === 425 || status === 429 || status >= 500;
