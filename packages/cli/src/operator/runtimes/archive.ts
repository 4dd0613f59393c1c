import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { PassThrough, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { extract, type Header } from 'tar-stream';

/** A file of an archive, where it was written to. */
export interface Blob {
  file: string;
  sha256: string;
  byteSize: number;
}
/** What an entry holds. */
export type Content = AsyncIterable<Buffer>;
export type Find = (name: string) => Blob | undefined;

const GZIP = Buffer.from([0x1f, 0x8b]),
  ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Old versions of `docker save` link a layer that they have already written. */
const LINKS = 5;

/** What undoes the compression that a file begins with; undefined for one that has none. */
async function unpacker(file: string): Promise<Transform | undefined> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer.subarray(0, 2).equals(GZIP)) return createGunzip();
    return buffer.equals(ZSTD) ? createZstdDecompress() : undefined;
  } finally {
    await handle.close();
  }
}

/**
 * Reads a tar file, compressed or not: `take` gets each entry and has to read its content. Returns the SHA-256
 * of the tar without its compression.
 */
export async function readTar(
  file: string,
  take: (header: Header, content: Content) => Promise<void> | void,
): Promise<string> {
  const hash = createHash('sha256');
  const tapped = new PassThrough().on('data', (part: Buffer) => hash.update(part));
  const entries = extract();
  const reading = pipeline([
    createReadStream(file),
    ...[(await unpacker(file)) ?? []].flat(),
    tapped,
    entries,
  ]);
  // Its awaiter is below: an error that comes first ends the loop, too.
  reading.catch(() => {});
  for await (const entry of entries) {
    await take(entry.header, entry as Content);
    entry.resume();
  }
  await reading;
  return hash.digest('hex');
}

/** Writes the files of an archive to a folder, under numbers, and finds them by name. */
export async function openArchive(path: string, folder: string): Promise<Find> {
  mkdirSync(folder);
  const blobs = new Map<string, Blob>();
  const links = new Map<string, string>();
  await readTar(path, async ({ name, type, linkname }, content) => {
    const plain = posix.normalize(name);
    if (type === 'file') blobs.set(plain, await write(content, join(folder, String(blobs.size))));
    else if (type === 'link') links.set(plain, posix.normalize(linkname ?? ''));
    else if (type === 'symlink') links.set(plain, posix.join(posix.dirname(plain), linkname ?? ''));
  }).catch((error: Error) => {
    throw new Error(`${path} is no tar archive that can be read: ${error.message}`, { cause: error });
  });
  return (name) => {
    let found = posix.normalize(name);
    for (let i = 0; i < LINKS; i++) found = links.get(found) ?? found;
    return blobs.get(found);
  };
}

async function write(content: Content, file: string): Promise<Blob> {
  const hash = createHash('sha256');
  let byteSize = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const part of content) {
      hash.update(part);
      byteSize += part.length;
      yield part;
    }
  };
  await pipeline(counted, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  return { file, sha256: hash.digest('hex'), byteSize };
}
