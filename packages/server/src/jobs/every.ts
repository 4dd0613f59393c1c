/** Work that repeats until the process stops: sweepers, reconcilers, renewals. */
export interface Loop {
  /** Starts a round at once, unless one is under way. */
  runNow(): void;
  /** Starts no further round; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/** Whether a round is for this process to do now: see `JobWorker.isHousekeeper`. */
export type When = () => boolean;

interface LoopOptions {
  /** A round that failed is not retried: the next one starts on time. */
  onFailure(this: void, error: unknown): void;
  /** Starts no further round once this is aborted. */
  until?: AbortSignal;
  /** Asked at each start of a round: false skips it. */
  when?: When | undefined;
}

/**
 * Starts a round every `ms` milliseconds, the first after `ms`. Rounds never overlap: where one takes
 * longer, the starts that it misses are skipped.
 */
export function every(ms: number, round: () => Promise<unknown>, options: LoopOptions): Loop {
  let underWay: Promise<void> | null = null;
  const runRound = async () => {
    try {
      await round();
    } catch (error) {
      options.onFailure(error);
    }
  };
  const runNow = () => {
    if (options.when && !options.when()) return;
    underWay ??= runRound().finally(() => {
      underWay = null;
    });
  };
  const timer = setInterval(runNow, ms);
  const clear = () => clearInterval(timer);
  options.until?.addEventListener('abort', clear, { once: true });
  return {
    runNow,
    async stop() {
      clear();
      options.until?.removeEventListener('abort', clear);
      await underWay;
    },
  };
}
