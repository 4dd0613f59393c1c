/** Who of the tabs leads: the one that holds the lock. */
import { withLock } from './lock.ts';

export interface OfficeOptions {
  locks: Navigator['locks'];
  name: string;
  /** Of the session's end. */
  signal: AbortSignal;
  /** This tab leads; returns how to end that. */
  onTaken(): () => void;
}

export class Office {
  readonly #options: OfficeOptions;
  #waiting: AbortController | null = null;

  constructor(options: OfficeOptions) {
    this.#options = options;
  }

  /** Waits for the lock, or takes it; leads while it has it. */
  async campaign(steal: boolean): Promise<void> {
    const { locks, name, signal: end, onTaken } = this.#options;
    this.#waiting?.abort(new Error('the lock is stolen instead'));
    const waiting = new AbortController();
    this.#waiting = waiting;
    const signal = AbortSignal.any([waiting.signal, end]);
    const outcome = await withLock(locks, { name, steal, signal }, async (held) => {
      const retire = onTaken();
      await new Promise<void>((resolve) => {
        held.addEventListener('abort', () => resolve(), { once: true });
      });
      retire();
    }).catch(() => 'done' as const);
    if (outcome === 'stolen' && this.#waiting === waiting && !end.aborted) void this.campaign(false);
  }

  /** Takes no part any more. */
  leave(): void {
    this.#waiting?.abort(new Error('the session has ended'));
    this.#waiting = null;
  }
}
