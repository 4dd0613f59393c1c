import { freeWork, returnToPlace } from '../runner/place-work.ts';
import type { ClaimedRun } from './claimed-run.ts';
import { threadKey } from './queue-run.ts';

/** A run's place at its runner: given back while it waits for a person, and taken again before it goes on. */
export class WaitingPlace {
  readonly #claimed: ClaimedRun;
  #isGivenBack = false;
  /** Since when the run may go on but for its place. */
  #askedAt: number | null = null;

  constructor(claimed: ClaimedRun) {
    this.#claimed = claimed;
  }

  /** Whether its agent may get answers. False only until there is room for a run that goes on. */
  async follow(isWaiting: boolean): Promise<boolean> {
    if (isWaiting === this.#isGivenBack) return true;
    const { ctx, run } = this.#claimed;
    const holder = threadKey(run.thread_id);
    if (isWaiting) await freeWork(ctx, holder);
    else {
      this.#askedAt ??= performance.now();
      if (!(await returnToPlace(ctx, holder, performance.now() - this.#askedAt))) return false;
      this.#askedAt = null;
    }
    this.#isGivenBack = isWaiting;
    return true;
  }
}
