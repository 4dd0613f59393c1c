/** What a command knows of the process around it: tests give their own. */
import type { Readable, Writable } from 'node:stream';

export interface Terminal {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

export interface Io {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** The words that start this program again: git runs it as its credential helper. */
  program: readonly string[];
  stdin: Readable & Terminal & { setRawMode?(isRaw: boolean): unknown };
  stdout: Writable & Terminal;
  stderr: Writable & Terminal;
  /** Calls the listener at each Ctrl-C. Returns the function that stops it. */
  onInterrupt(listener: () => void): () => void;
  /** Replaces the global fetch. */
  fetch?: typeof fetch;
}

export const processIo = (): Io => ({
  env: process.env,
  cwd: process.cwd(),
  program: process.argv.slice(0, 2),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onInterrupt(listener) {
    process.on('SIGINT', listener);
    return () => void process.off('SIGINT', listener);
  },
});
