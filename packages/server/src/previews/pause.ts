/** Waits `ms`, less when `signal` fires or when the function that `giveWake` is given is called. */
export function pause(
  ms: number,
  signal: AbortSignal,
  giveWake: (wake: () => void) => void = () => {},
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    giveWake(done);
    if (signal.aborted) done();
  });
}
