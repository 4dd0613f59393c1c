/** What the live store needs from the browser. Outside of one (tests), a tab is visible and in front. */
export interface Environment {
  /** Null where the browser has none: on a page over plain http. */
  locks: LockManager | null;
  openChannel(name: string): BroadcastChannel;
  /** How often a tab looks after its leader. */
  tickMs: number;
  isVisible(): boolean;
  isFocused(): boolean;
  isOnline(): boolean;
  /** Calls `onChange` when any of these has changed; returns how to end it. */
  listen(onChange: () => void): () => void;
  /** Runs it before the next frame is drawn; returns how to cancel it. */
  atFrame(run: () => void): () => void;
}

const HIDDEN_FRAME_MS = 16;
const page = typeof document === 'undefined' ? null : document;

export const browser: Environment = {
  locks: (globalThis.navigator as { locks?: LockManager } | undefined)?.locks ?? null,
  openChannel: (name) => new BroadcastChannel(name),
  tickMs: 1_000,
  isVisible: () => page?.visibilityState !== 'hidden',
  isFocused: () => page?.hasFocus() ?? true,
  isOnline: () => (globalThis.navigator as { onLine?: boolean } | undefined)?.onLine !== false,
  listen(onChange) {
    if (!page) return () => {};
    const end = new AbortController();
    const options = { signal: end.signal };
    page.addEventListener('visibilitychange', onChange, options);
    for (const type of ['focus', 'blur', 'online', 'offline', 'pageshow'])
      window.addEventListener(type, onChange, options);
    return () => end.abort();
  },
  atFrame(run) {
    if (!page || page.visibilityState === 'hidden') {
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
