/** Bodies of answers: whole or not at all. */
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { within } from '../deadline.ts';
import { StorageUnavailableError } from './object-store.ts';
import { BrokenAnswer } from './s3-attempts.ts';

/** The name of an object's metadata that has its MD5 in hex; an ETag is not one where the bucket is encrypted. */
export const MD5_METADATA = 'md5';

/** How often a stream is continued after a break. */
const MOST_BREAKS = 10;

export const md5Of = (bytes: Uint8Array) => createHash('md5').update(bytes);

/** The object's bytes. Throws `BrokenAnswer` where these are not all, or not those that were put. */
export async function wholeBody(output: GetObjectCommandOutput, idleMs: number): Promise<Buffer> {
  const bytes = Buffer.concat(await Array.fromAsync(chunksOf(output, idleMs)));
  assertLength(bytes.length, output.ContentLength);
  assertMd5(output, () => md5Of(bytes).digest('hex'));
  return bytes;
}

/** The bytes from `start` to `end`, fewer where the object ends. Throws `BrokenAnswer` as `wholeBody` does. */
export async function rangeBody(
  output: GetObjectCommandOutput,
  { start, end }: { start: number; end: number },
  idleMs: number,
): Promise<Buffer> {
  const { from, total } = rangeOf(output);
  const bytes = Buffer.concat(await Array.fromAsync(chunksOf(output, idleMs)));
  assertLength(bytes.length, output.ContentLength);
  if (from !== start) throw new BrokenAnswer(`an answer begins at ${from} instead of ${start}`);
  assertLength(bytes.length, Math.min(end, total) - start);
  return bytes;
}

/** Throws `BrokenAnswer` where the answer is no range. */
function rangeOf({ ContentRange }: GetObjectCommandOutput): { from: number; total: number } {
  const [, from, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(ContentRange ?? '') ?? [];
  if (from === undefined) throw new BrokenAnswer(`an answer has the range ${ContentRange ?? 'of all bytes'}`);
  return { from: Number(from), total: Number(total) };
}

/**
 * The object's bytes as they come. `fetch` asks for them from an offset on; the stream goes on from where an answer
 * broke. Where the bytes are not those that were put it fails before the last of them: a reader who knows the length must not
 * take them for all.
 */
export async function continuedStream(
  fetch: (from: number) => Promise<GetObjectCommandOutput>,
  idleMs: number,
): Promise<Readable> {
  const first = await fetch(0);
  const body = first.Body as Readable;
  // Until the first byte is read nobody else listens: an answer that nobody reads breaks when it is idle for too long.
  body.on('error', () => {});
  const stream = Readable.from(continued(first, fetch, idleMs), { objectMode: false });
  return stream.once('close', () => body.destroy());
}

async function* continued(
  first: GetObjectCommandOutput,
  fetch: (from: number) => Promise<GetObjectCommandOutput>,
  idleMs: number,
): AsyncGenerator<Buffer> {
  const hash = createHash('md5');
  const total = first.ContentLength;
  let output = first;
  let at = 0;
  let last: Buffer | undefined;
  for (let breaks = 0; ; breaks++) {
    try {
      for await (const chunk of chunksOf(output, idleMs)) {
        hash.update(chunk);
        at += chunk.length;
        if (last) yield last;
        last = chunk;
      }
      assertLength(at, total);
      break;
    } catch (error) {
      if (breaks === MOST_BREAKS || total === undefined || at >= total)
        throw new StorageUnavailableError('an object could not be read to its end', { cause: error });
    }
    output = await fetch(at);
    // From the first byte on it is asked for as a whole.
    const range = at === 0 ? undefined : `bytes ${at}-${total - 1}/${total}`;
    if (output.ContentRange !== range || output.ContentLength !== total - at || output.ETag !== first.ETag)
      throw new StorageUnavailableError('an object is not the same as when its reading began');
  }
  try {
    assertMd5(first, () => hash.digest('hex'));
  } catch (error) {
    throw new StorageUnavailableError('an object was read with other bytes', { cause: error });
  }
  if (last) yield last;
}

/** Throws `TimedOut` where no byte comes for `idleMs`. A reader who stops ends the answer. */
async function* chunksOf({ Body }: GetObjectCommandOutput, idleMs: number): AsyncGenerator<Buffer> {
  const body = Body as Readable;
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const { done, value } = await within(idleMs, chunks.next());
      if (done) return;
      yield value;
    }
  } finally {
    body.destroy();
  }
}

function assertLength(length: number, expected: number | undefined): void {
  if (length !== expected) throw new BrokenAnswer(`an answer has ${length} bytes instead of ${expected}`);
}

/** What others put may have none. */
function assertMd5({ Metadata }: GetObjectCommandOutput, found: () => string): void {
  const put = Metadata?.[MD5_METADATA];
  if (put !== undefined && put !== found()) throw new BrokenAnswer('an answer has other bytes than were put');
}
