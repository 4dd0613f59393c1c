/** The environment of a page. */
import type { Environment } from './environment.ts';

const HIDDEN_FRAME_MS = 16;

export const browser: Environment = {
  // The type knows only pages that came over TLS or from this machine.
  locks: (navigator as { locks?: Navigator['locks'] }).locks ?? null,
  openChannel: (name) => new BroadcastChannel(name),
  tickMs: 1_000,
  isVisible: () => document.visibilityState !== 'hidden',
  isFocused: () => document.hasFocus(),
  isOnline: () => navigator.onLine,
  listen(onChange) {
    const end = new AbortController();
    const options = { signal: end.signal };
    document.addEventListener('visibilitychange', onChange, options);
    for (const type of ['focus', 'blur', 'online', 'offline', 'pageshow'])
      window.addEventListener(type, onChange, options);
    return () => end.abort();
  },
  atFrame(run) {
    if (document.visibilityState === 'hidden') {
      const timer = setTimeout(run, HIDDEN_FRAME_MS);
      return () => clearTimeout(timer);
    }
    // A tab that is hidden before the frame draws none: the timer is for that.
    let isDone = false;
    const once = () => {
      if (!isDone) run();
      isDone = true;
    };
    const frame = requestAnimationFrame(once);
    const timer = setTimeout(once, 250);
    return () => {
      isDone = true;
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  },
};
