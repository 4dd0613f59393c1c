/** Files as tar.gz, one in memory at a time. */
import { END, headersOf, padding } from '@headrace/client/files';
import type { Picked } from './scan.ts';

const HASH = 0x23;
const BANG = 0x21;

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
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      signal?.throwIfAborted();
      const one = files[next++];
      if (!one) {
        controller.enqueue(END as Uint8Array<ArrayBuffer>);
        controller.close();
        return;
      }
      const content = await contentOf(one);
      const executable = content[0] === HASH && content[1] === BANG;
      const parts = [
        ...headersOf({ path: one.path, byteSize: content.length, executable }),
        content,
        padding(content.length),
      ];
      for (const part of parts) if (part.length > 0) controller.enqueue(part as Uint8Array<ArrayBuffer>);
      onFile?.(next);
    },
  });
}

async function contentOf({ path, file }: Picked): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new UnreadableError(path);
  }
}
