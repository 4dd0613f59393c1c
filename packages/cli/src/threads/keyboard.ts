/** The keys that a person presses while a command follows something. */
import type { Io } from '../core/io.ts';
import { readKey } from '../terminal/keys.ts';

export class Keyboard {
  readonly #closed = new AbortController();

  /** Ctrl-C is `ctrl-c`: a terminal that gives single keys gives it as one, too. */
  constructor(io: Io, onKey: (key: string) => void) {
    void this.#read(io, onKey);
  }

  close(): void {
    this.#closed.abort();
  }

  async #read(io: Io, onKey: (key: string) => void): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted && !io.stdin.readableEnded && !io.stdin.destroyed) {
      const key = await readKey(io, signal).catch(() => 'ctrl-c');
      if (!signal.aborted) onKey(key);
    }
  }
}
