/** Limits how many requests of a kind are in progress: in this process, and for one organization. */
import { ApiError } from './errors.ts';
import { retryHeaders } from './rate-limit.ts';

export interface Bounds {
  /** The kind of requests, in the plural, for the error message: `exports`. */
  what: string;
  all: number;
  each: number;
  /** Requests of one organization that wait for a place. */
  waiting: number;
  waitMs: number;
}

interface Waiting {
  orgId: string;
  enter: () => void;
}

const busy = (what: string) =>
  new ApiError('unavailable', `Too many ${what} are in progress. Retry in a moment.`, {
    headers: retryHeaders(5),
  });

export class Places {
  readonly #bounds: Bounds;
  readonly #held = new Map<string, number>();
  #all = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /**
   * Resolves to the function that releases the place. Throws 503 if none becomes free in time or too many requests
   * wait, and the signal's reason when it is aborted.
   */
  async take(orgId: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!this.#isFree(orgId)) await this.#wait(orgId, signal);
    else this.#enter(orgId);
    let isHeld = true;
    return () => {
      if (isHeld) this.#leave(orgId);
      isHeld = false;
    };
  }

  #isFree(orgId: string): boolean {
    return this.#all < this.#bounds.all && (this.#held.get(orgId) ?? 0) < this.#bounds.each;
  }

  #enter(orgId: string): void {
    this.#all++;
    this.#held.set(orgId, (this.#held.get(orgId) ?? 0) + 1);
  }

  #leave(orgId: string): void {
    this.#all--;
    const left = this.#held.get(orgId)! - 1;
    if (left > 0) this.#held.set(orgId, left);
    else this.#held.delete(orgId);
    // The first one whose organization has room: an organization's queue must not block the others.
    for (const waiting of this.#waiting)
      if (this.#isFree(waiting.orgId)) {
        this.#waiting.delete(waiting);
        this.#enter(waiting.orgId);
        return waiting.enter();
      }
  }

  #wait(orgId: string, signal: AbortSignal): Promise<void> {
    if ([...this.#waiting].filter((other) => other.orgId === orgId).length >= this.#bounds.waiting)
      throw busy(this.#bounds.what);
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        this.#waiting.delete(waiting);
        settle();
      };
      const waiting: Waiting = { orgId, enter: () => end(resolve) };
      const leave = () => end(() => reject(signal.reason as Error));
      const timer = setTimeout(() => end(() => reject(busy(this.#bounds.what))), this.#bounds.waitMs);
      signal.addEventListener('abort', leave);
      this.#waiting.add(waiting);
    });
  }
}
