import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { finished } from 'node:stream/promises';
import type { Mask } from '../masking/mask.ts';
import type { Journal } from './journal.ts';

/** The longest text of one entry, and how long small pieces wait for more. */
const ENTRY_BYTES = 64 * 1024,
  COALESCE_MS = 20;
/** In UTF-16 units, each of which takes up to three bytes of UTF-8. */
const PIECE = Math.floor(ENTRY_BYTES / 3);
/**
 * UTF-16 units kept per stream and task; later output is read and dropped, so that the command never blocks.
 */
const STREAM_UNITS = 4 * 1024 * 1024;
/** Bytes read per stream and task, since a secret again and again is masked to next to nothing. */
const STREAM_BYTES = 4 * STREAM_UNITS;

/**
 * Writes both streams of a command into its journal, in order of arrival, as UTF-8, masked.
 * Resolves when both have ended and everything is written.
 */
export async function journalOutput(
  journal: Journal,
  mask: Mask,
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
      const masked = mask.stream();
      let left = STREAM_UNITS,
        bytesLeft = STREAM_BYTES;
      const keep = (text: string): void => {
        if (text !== '') add(name, text.slice(0, left));
        left = Math.max(0, left - text.length);
      };
      streams[name].on('data', (bytes: Buffer) => {
        if (left > 0 && bytesLeft > 0) keep(masked.push(decoder.write(bytes.subarray(0, bytesLeft))));
        bytesLeft -= bytes.length;
      });
      await finished(streams[name], { writable: false }).catch(() => {
        /* broken off by a kill */
      });
      // What waits at a cut may be the beginning of a secret.
      if (left > 0 && bytesLeft >= 0) keep(masked.push(decoder.end()) + masked.end());
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
