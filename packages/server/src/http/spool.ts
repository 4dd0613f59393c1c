/**
 * Responses that the service may produce faster than a caller reads them. Their source, a snapshot of the database, is
 * released once they are in a file, however slow the caller is. The file is unlinked and disappears with its reader.
 */
import { randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ApiError } from './errors.ts';

/** A caller that reads for longer is cut off. */
const READ_MS = 30 * 60_000;

/** Texts are written in chunks: one write per text would be thousands. */
const CHUNK_LENGTH = 64 * 1024;

/** Writes the texts one after the other, and returns them as a stream. Rejects when `signal` aborts. */
export async function spool(
  folder: string,
  texts: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<Readable> {
  const path = join(folder, `spool-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    await file.writeFile(inChunks(texts, signal));
    return file.createReadStream({ start: 0, signal: AbortSignal.timeout(READ_MS) });
  } catch (error) {
    await file.close();
    if (signal.aborted) throw new ApiError('unavailable', 'The response was aborted.', { cause: error });
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC'
      ? new ApiError('unavailable', 'There is not enough disk space for the response. Retry later.', {
          cause: error,
        })
      : error;
  }
}

async function* inChunks(texts: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<string> {
  let chunk = '';
  for await (const text of texts) {
    signal.throwIfAborted();
    chunk += text;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
