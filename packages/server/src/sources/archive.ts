/**
 * A source as tar, for workspaces, and as tar.gz, for clients. Both are functions of the content: equal
 * `sha256`, equal bytes.
 */
import { Readable, pipeline } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { TAR_END, tarHeader, tarPadding } from '@headrace/runner/tar';
import type { Tree } from '../trees/tree.ts';
import type { BlobReader } from './blobs.ts';

/** Small files travel together: a chunk per header and content would be 30,000 writes. */
const CHUNK_BYTES = 128 * 1024;
const LEVEL = 6;
/**
 * Magic, deflate, no flags, no time, no extra flags, unknown system: zlib would write the system that it was
 * built for.
 */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/**
 * An uncompressed tar of the files, in order of the manifest, read pack by pack at the pace of the
 * consumer.
 */
export function tarOf(
  files: Tree,
  blobs: Pick<BlobReader, 'readBlobs'>,
  workspace: OfWorkspace = {},
): Readable {
  return Readable.from(tarChunks(files, blobs, workspace), { objectMode: false, highWaterMark: CHUNK_BYTES });
}

/** The same as gzip; compressed on zlib's threads. */
export function archiveOf(files: Tree, blobs: Pick<BlobReader, 'readBlobs'>): Readable {
  return Readable.from(gzipChunks(tarChunks(files, blobs)), {
    objectMode: false,
    highWaterMark: CHUNK_BYTES,
  });
}

/** What the tar of a workspace has in addition to the files. */
export interface OfWorkspace {
  /** Symbolic links, after all files: path → target. */
  links?: ReadonlyMap<string, string>;
  /** Files with the time 1 instead of 0. */
  newer?: ReadonlySet<string>;
}

const NEWER = new Date(1000);

/** The tar in chunks of many small files. */
export async function* tarChunks(
  files: Tree,
  blobs: Pick<BlobReader, 'readBlobs'>,
  { links = new Map(), newer }: OfWorkspace = {},
): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const contents = blobs.readBlobs([...files.values()].map((f) => f.sha256));
  for (const [path, { byteSize, executable }] of files) {
    const next = await contents.next();
    if (next.done) throw new Error('a content is missing');
    const time = newer?.has(path) ? { mtime: NEWER } : {};
    pending.push(tarHeader({ path, byteSize, executable, ...time }), next.value.bytes, tarPadding(byteSize));
    pendingBytes += byteSize + 1024;
    if (pendingBytes < CHUNK_BYTES) continue;
    yield Buffer.concat(pending);
    pending = [];
    pendingBytes = 0;
    // One range read brings thousands of files, which need no further wait: without a pause they would hold
    // the event loop for 25 ms.
    await setImmediate();
  }
  for (const [path, target] of links)
    pending.push(tarHeader({ path, byteSize: 0, executable: false, target }));
  yield Buffer.concat([...pending, TAR_END]);
}

/** The chunks as gzip: a function of their bytes. */
export async function* gzipChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield GZIP_HEADER;
  let crc = 0;
  let length = 0;
  async function* counted() {
    for await (const chunk of chunks) {
      crc = crc32(chunk, crc);
      length += chunk.length;
      yield chunk;
    }
  }
  const deflate = createDeflateRaw({ level: LEVEL, chunkSize: CHUNK_BYTES });
  // In object mode chunks arrive as they were cut. A fault of the reader destroys the compressor, which
  // throws it below.
  pipeline(Readable.from(counted()), deflate, () => {});
  for await (const chunk of deflate as AsyncIterable<Buffer>) yield chunk;
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  yield trailer;
}
