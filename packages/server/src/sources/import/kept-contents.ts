import type { Call } from '../../http/operation.ts';
import type { Handle } from './pool.ts';

/**
 * Releases the contents of a parsed body when the request ends before work began on them: a replay, a
 * refusal. Returns what the work calls as it begins; from then on it releases them itself.
 */
export function keepUntilTaken({ ctx, signal }: Pick<Call, 'ctx' | 'signal'>, handle: Handle): () => void {
  let isTaken = false;
  // A service that stops still answers what is under way.
  const release = () => {
    if (!isTaken && !ctx.shutdown.aborted) ctx.pool.release(handle);
  };
  if (signal.aborted) release();
  else signal.addEventListener('abort', release, { once: true });
  return () => {
    isTaken = true;
  };
}
