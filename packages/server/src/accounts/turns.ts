import { ApiError } from '../http/errors.ts';

/** A queue for work that must not take everything: `atOnce` run, `mostWaiting` wait, the rest is 503. */
export function turns(atOnce: number, mostWaiting: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= atOnce) {
      if (waiting.length >= mostWaiting)
        throw new ApiError('unavailable', 'Too many people sign in at this moment. Retry in a moment.');
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
