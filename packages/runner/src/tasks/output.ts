import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { finished } from 'node:stream/promises';
import type { Journal } from './journal.ts';

/** The longest text of one entry, and how long small pieces wait for more. */
const ENTRY_BYTES = 64 * 1024,
  COALESCE_MS = 20;
/** In UTF-16 units, each of which takes up to three bytes of UTF-8. */
const PIECE = Math.floor(ENTRY_BYTES / 3);
/** Kept per stream and task; later output is read and dropped, so that the command never blocks. */
const STREAM_BYTES = 4 * 1024 * 1024;

/**
 * Writes both streams of a command into its journal, in order of arrival, as UTF-8.
 * Resolves when both have ended and everything is written.
 */
export async function journalOutput(
  journal: Journal,
  streams: { stdout: Readable; stderr: Readable },
): Promise<void> {
  let pending: { stream: 'stdout' | 'stderr'; text: string } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (pending) journal.append({ type: 'output', ...pending });
    pending = undefined;
  };
  const add = (stream: 'stdout' | 'stderr', text: string): void => {
    for (const part of pieces(text)) {
      if (pending && (pending.stream !== stream || pending.text.length + part.length > PIECE)) flush();
      pending = { stream, text: (pending?.text ?? '') + part };
    }
    timer ??= setTimeout(flush, COALESCE_MS);
  };
  await Promise.all(
    (['stdout', 'stderr'] as const).map(async (name) => {
      const decoder = new StringDecoder('utf8');
      let left = STREAM_BYTES;
      streams[name].on('data', (bytes: Buffer) => {
        const text = decoder.write(left < bytes.length ? bytes.subarray(0, left) : bytes);
        left = Math.max(0, left - bytes.length);
        if (text !== '') add(name, text);
      });
      await finished(streams[name], { writable: false }).catch(() => {
        /* broken off by a kill */
      });
      const rest = decoder.end();
      if (rest !== '') add(name, rest);
    }),
  );
  flush();
}

/** Cuts a text into pieces without splitting a surrogate pair. */
function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + PIECE, text.length);
    if (end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1))) end--;
    yield text.slice(at, end);
    at = end;
  }
}
