/** What the model calls of a worker share. */
import type { ServerResponse } from 'node:http';
import { openPlaces } from './places.ts';
import type { Places } from './places.ts';
import { openUpstream } from './upstream.ts';
import type { UpstreamPool, UpstreamTimes } from './upstream.ts';

/** A run's calls at once, and how many more wait for how long. */
export const AT_ONCE = { atOnce: 16, waiting: 64, waitMs: 120_000 };
const CLOSE_MS = 5_000;

export class Calls {
  readonly upstream: UpstreamPool;
  readonly places: Places = openPlaces(AT_ONCE);
  /** Ids of the calls that this process relays: it renews their leases. */
  readonly open = new Set<number>();
  readonly #underWay = new Map<AbortController, Promise<void>>();
  #isClosed = false;

  constructor(times: UpstreamTimes) {
    this.upstream = openUpstream(times);
  }

  /**
   * Runs `work` with a signal that is aborted when the agent goes away, or the gateway closes (reason
   * 'closed').
   */
  async during(res: ServerResponse, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const gone = new AbortController();
    if (this.#isClosed || res.destroyed) return void res.destroy();
    res.once('close', () => gone.abort('gone'));
    const done = work(gone.signal);
    this.#underWay.set(
      gone,
      done.catch(() => {}),
    );
    try {
      await done;
    } finally {
      this.#underWay.delete(gone);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const gone of this.#underWay.keys()) gone.abort('closed');
    const limit = new Promise<void>((resolve) => {
      setTimeout(resolve, CLOSE_MS).unref();
    });
    await Promise.race([Promise.all(this.#underWay.values()), limit]);
    await this.upstream.close();
  }
}
