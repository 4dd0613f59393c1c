/**
 * Works while it holds a lock. `work` ends with its signal: when the caller's signal aborts, and when another tab
 * steals the lock.
 */
export async function withLock(
  locks: Navigator['locks'],
  { name, steal, signal }: { name: string; steal: boolean; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<'done' | 'stolen'> {
  const held = new AbortController();
  const end = () => held.abort(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  try {
    if (signal.aborted) return 'done';
    await locks.request(name, steal ? { steal } : { signal }, () =>
      signal.aborted ? undefined : work(held.signal),
    );
    return 'done';
  } catch (error) {
    if (signal.aborted) return 'done';
    if (error instanceof DOMException && error.name === 'AbortError') return 'stolen';
    throw error;
  } finally {
    held.abort(new Error('the lock is lost'));
    signal.removeEventListener('abort', end);
  }
}
