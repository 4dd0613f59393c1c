/** Reads a build's log from its start to its end, part by part, while the build runs. */
import { HeadraceError } from '@headrace/client';
import { AnsiText } from '../../code/ansi.ts';

/** A part of the log, as the service answers it. */
export interface LogPart {
  text: string;
  byteSize: number;
  truncated: boolean;
  nextOffset: number;
  ended: boolean;
}

export interface LogState {
  log: AnsiText;
  byteSize: number;
  /** The service keeps the first 2 MiB only. */
  isTruncated: boolean;
  isEnded: boolean;
  /** The last read failed; another one follows, unless the log is gone. */
  error: unknown;
}

export interface LogSource {
  /** Reads from `offset`; waits for text. */
  read: (offset: number, signal: AbortSignal) => PromiseLike<LogPart>;
  pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Parts smaller than this are the end of what is there: the next read is a moment later. */
const FULL_PART = 128 * 1024;
const BETWEEN_MS = 1_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** Calls `onState` after each part. Ends with the log, with the signal, or when the log cannot be read at all. */
export async function readLog(
  { read, pause }: LogSource,
  onState: (state: LogState) => void,
  signal: AbortSignal,
): Promise<void> {
  const state = emptyLog();
  let offset = 0;
  let failures = 0;
  while (!state.isEnded && !signal.aborted) {
    try {
      const part = await read(offset, signal);
      if (signal.aborted) return;
      failures = 0;
      state.log.append(part.text);
      offset = part.nextOffset;
      onState(
        Object.assign(state, {
          byteSize: part.byteSize,
          isTruncated: part.truncated,
          isEnded: part.ended,
          error: null,
        }),
      );
      if (!part.ended && part.text.length < FULL_PART) await pause(BETWEEN_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      onState(Object.assign(state, { error }));
      if (isFinal(error)) return;
      failures++;
      await pause(waitAfter(error, failures), signal);
    }
  }
}

export const emptyLog = (): LogState => ({
  log: new AnsiText(),
  byteSize: 0,
  isTruncated: false,
  isEnded: false,
  error: null,
});

/** Whether no other read follows. Signing in again goes on where the log was left. */
export const isFinal = (error: unknown): boolean =>
  error instanceof HeadraceError && [400, 403, 404, 410].includes(error.status);

function waitAfter(error: unknown, failures: number): number {
  const asked = error instanceof HeadraceError ? error.retryAfterMs : null;
  return asked ?? Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
}
