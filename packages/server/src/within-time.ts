/** Runs work that may hang. Rejects after `ms`; the work goes on, and finds its signal aborted. */
export async function withinTime<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    over.abort(new Error(`not done within ${ms} ms`));
    late.reject(over.signal.reason);
  }, ms);
  try {
    return await Promise.race([work(over.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
