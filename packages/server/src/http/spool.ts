/**
 * Answers that are made quicker than a caller may read them. What they are made from, a snapshot of the database, is
 * free again once they lie in a file, however slow the caller is; the file has no name, and goes with its reader.
 */
import { randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ApiError } from './errors.ts';

/** A caller that has not read all by then gets no more. */
const READ_MS = 30 * 60_000;

/** Pieces of a text are written together: a write of each would be thousands. */
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
    if (signal.aborted) throw new ApiError('unavailable', 'The answer was given up.', { cause: error });
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC'
      ? new ApiError('unavailable', 'There is no room to make the answer. Retry later.', { cause: error })
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
