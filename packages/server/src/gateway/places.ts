/**
 * A bounded number of calls at once for each run, where large ones count as several. A bounded number of
 * further calls wait, for a bounded time.
 */
import { GatewayError } from './wire-errors.ts';

export interface Places {
  /**
   * Takes `size` places (at most `atOnce`); the function that it resolves to gives them back. Throws a
   * GatewayError of 429 when too many wait or the time is over.
   */
  take(runId: string, size: number, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  size: number;
  go(): void;
}

interface Queue {
  taken: number;
  waiting: Set<Waiting>;
}

export function openPlaces({
  atOnce,
  waiting,
  waitMs,
}: {
  atOnce: number;
  waiting: number;
  waitMs: number;
}): Places {
  const queues = new Map<string, Queue>();
  /** Lets waiting calls in, in their order: a large call is not overtaken for ever. */
  const advance = (runId: string, queue: Queue) => {
    for (const next of queue.waiting) {
      if (queue.taken + next.size > atOnce) return;
      queue.taken += next.size;
      next.go();
    }
    if (queue.taken === 0) queues.delete(runId);
  };
  return {
    async take(runId, size, signal) {
      const queue = queues.get(runId) ?? { taken: 0, waiting: new Set() };
      queues.set(runId, queue);
      if (queue.waiting.size === 0 && queue.taken + size <= atOnce) queue.taken += size;
      else {
        if (queue.waiting.size >= waiting) throw tooMany();
        await turn(queue, size, waitMs, signal).catch((error: unknown) => {
          advance(runId, queue);
          throw error;
        });
      }
      let isGiven = false;
      return () => {
        if (isGiven) return;
        isGiven = true;
        queue.taken -= size;
        advance(runId, queue);
      };
    },
  };
}

const tooMany = () =>
  new GatewayError(429, 'This run has too many calls of models under way. Make fewer at once.');

function turn(queue: Queue, size: number, waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      queue.waiting.delete(mine);
    };
    const mine = {
      size,
      go() {
        done();
        resolve();
      },
    };
    const leave = () => {
      done();
      reject(tooMany());
    };
    const timer = setTimeout(leave, waitMs);
    signal.addEventListener('abort', leave);
    queue.waiting.add(mine);
    if (signal.aborted) leave();
  });
}
