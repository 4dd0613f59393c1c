/** A bounded number of calls at once for each run; a bounded number of others wait for a bounded time. */
import { GatewayError } from './wire-errors.ts';

export interface Places {
  /** Resolves to what gives the place back. Throws a GatewayError of 429 when too many wait or the time is over. */
  take(runId: string, signal: AbortSignal): Promise<() => void>;
}

interface Queue {
  taken: number;
  waiting: Set<() => void>;
}

export function openPlaces({ atOnce, waiting, waitMs }: { atOnce: number; waiting: number; waitMs: number }): Places {
  const queues = new Map<string, Queue>();
  const give = (runId: string, queue: Queue) => {
    const [next] = queue.waiting;
    if (next) return next();
    queue.taken--;
    if (queue.taken === 0) queues.delete(runId);
  };
  return {
    async take(runId, signal) {
      const queue = queues.get(runId) ?? { taken: 0, waiting: new Set() };
      queues.set(runId, queue);
      if (queue.taken < atOnce) queue.taken++;
      else {
        if (queue.waiting.size >= waiting) throw tooMany();
        await turn(queue, waitMs, signal);
      }
      let isGiven = false;
      return () => {
        if (!isGiven) give(runId, queue);
        isGiven = true;
      };
    },
  };
}

const tooMany = () => new GatewayError(429, 'This run has too many calls of models under way. Make fewer at once.');

function turn(queue: Queue, waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      queue.waiting.delete(mine);
    };
    const mine = () => { done(); resolve(); };
    const leave = () => { done(); reject(tooMany()); };
    const timer = setTimeout(leave, waitMs);
    signal.addEventListener('abort', leave);
    queue.waiting.add(mine);
    if (signal.aborted) leave();
  });
}
