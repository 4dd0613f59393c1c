/** Files as tar.gz, few of them in memory at a time. */
import { END, headersOf, padding } from '@headrace/client/files';
import type { Picked } from './scan.ts';

const HASH = 0x23;
const BANG = 0x21;
const AT_ONCE = 32;
const CHUNK_BYTES = 128 * 1024;

/** A file changed or went away after the folder was read. */
export class UnreadableError extends Error {
  constructor(path: string) {
    super(`${path} has changed or cannot be read. Choose the folder again.`);
  }
}

export interface PackOptions {
  signal?: AbortSignal;
  onFile?: (files: number) => void;
}

/** A browser does not tell which files are executable, so those that name their interpreter (`#!`) are. */
export async function tarGz(files: readonly Picked[], options: PackOptions = {}): Promise<Blob> {
  const { signal } = options;
  const gzipped = tarOf(files, options).pipeThrough(new CompressionStream('gzip'), signal && { signal });
  return await new Response(gzipped).blob();
}

function tarOf(
  files: readonly Picked[],
  { signal, onFile }: PackOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let done = 0;
  /** A browser reads one small file in milliseconds, but many in about the same time. */
  const ahead: Promise<Uint8Array>[] = [];
  const readAhead = () => {
    while (ahead.length < AT_ONCE && done + ahead.length < files.length) {
      const reading = contentOf(files[done + ahead.length]!);
      // Its turn may never come.
      reading.catch(() => {});
      ahead.push(reading);
    }
  };
  return new ReadableStream({
    async pull(controller) {
      const parts: Uint8Array[] = [];
      for (let bytes = 0; bytes < CHUNK_BYTES && done < files.length;) {
        signal?.throwIfAborted();
        readAhead();
        const content = await ahead.shift()!;
        const { path } = files[done++]!;
        const executable = content[0] === HASH && content[1] === BANG;
        parts.push(
          ...headersOf({ path, byteSize: content.length, executable }),
          content,
          padding(content.length),
        );
        bytes += content.length + END.length;
        onFile?.(done);
      }
      const isEnd = done === files.length;
      controller.enqueue(joined(isEnd ? [...parts, END] : parts));
      if (isEnd) controller.close();
    },
  });
}

/** Small files share a chunk: a few chunks for each file would take longer than the files. */
function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Throws UnreadableError. */
export async function contentOf({ path, file }: Picked): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new UnreadableError(path);
  }
}
