import type { WorkspaceSize } from '../protocol.ts';
import { MEASURE_MS } from '../registration.ts';

/** What workspaces take, measured at most every MEASURE_MS and once at a time; each result is handed over once. */
export class MeasuredSizes {
  readonly #measure: () => Promise<WorkspaceSize[]>;
  readonly #now: () => number;
  #sizes: WorkspaceSize[] | undefined;
  #measuredAt = -Infinity;
  #isMeasuring = false;

  constructor(measure: () => Promise<WorkspaceSize[]>, now: () => number = () => performance.now()) {
    this.#measure = measure;
    this.#now = now;
  }

  /** Undefined where nothing was measured since the last call. */
  take(): WorkspaceSize[] | undefined {
    const since = Math.round(this.#now() - this.#measuredAt);
    const taken = this.#sizes?.map((size) => ({ ...size, idleMs: size.idleMs + since }));
    this.#sizes = undefined;
    return taken;
  }

  /** Resolves with the sizes at hand. What cannot be measured now is measured after the next call. */
  async measure(): Promise<void> {
    if (this.#isMeasuring || this.#now() - this.#measuredAt < MEASURE_MS) return;
    this.#isMeasuring = true;
    try {
      this.#sizes = await this.#measure();
    } catch {
      /* the sizes that were reported last count on */
    } finally {
      this.#measuredAt = this.#now();
      this.#isMeasuring = false;
    }
  }
}
