import type { Call } from '../../http/operation.ts';
import type { Handle } from './pool.ts';

/** Whether the contents of a parsed body are somebody's work now. */
export interface Taken {
  is: boolean;
}

/**
 * Contents of a parsed body stay in the worker until work is taken up on them (`taken.is = true`), or until
 * the request is over without: a replay, a refusal.
 */
export function keepUntilTaken({ ctx, signal }: Pick<Call, 'ctx' | 'signal'>, handle: Handle): Taken {
  const taken = { is: false };
  // A service that stops still answers what is under way.
  const release = () => {
    if (!taken.is && !ctx.shutdown.aborted) ctx.pool.release(handle);
  };
  if (signal.aborted) release();
  else signal.addEventListener('abort', release, { once: true });
  return taken;
}
