/** What the live store needs from the browser. */
export interface Environment {
  /** Null where the browser has none: on a page over plain http. */
  locks: Navigator['locks'] | null;
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
