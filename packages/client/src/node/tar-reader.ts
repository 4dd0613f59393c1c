/** Reads a tar.gz without trusting it: regular files with paths that a source may hold, within limits. */
import { isUtf8 } from 'node:buffer';
import { Readable, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { shown } from '../files/bundle-rules.ts';
import { checkPath, foldPath } from '../files/paths.ts';

/** The archive is damaged, or contains something that is not allowed. Nothing was written. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

export interface Limits {
  files: number;
  /** The total size of all contents. */
  bytes: number;
}

export interface ArchiveFile {
  path: string;
  content: Buffer;
  executable: boolean;
}

export type Archive = Uint8Array | AsyncIterable<Uint8Array>;

const BLOCK = 512;
/** The headers of an entry with a path of 1,024 four-byte characters. */
const HEADER_BYTES = 8 * 1024;
const INFLATED_CHUNK = 256 * 1024;

/** The files in the archive's order. Throws ArchiveError, and what the archive's stream throws. */
export async function* readTarGz(archive: Archive, limits: Limits): AsyncGenerator<ArchiveFile> {
  const chunks = inflate(archive, limits.bytes + (limits.files + 1) * HEADER_BYTES);
  const paths = new Paths();
  let [files, bytes] = [0, 0];
  try {
    for await (const file of entriesOf(new Blocks(chunks), limits.bytes)) {
      if (++files > limits.files) throw new ArchiveError(`The archive has more than ${limits.files} files.`);
      if ((bytes += file.content.length) > limits.bytes) throw tooLarge(limits.bytes);
      const fault = checkPath(file.path) ?? paths.add(file.path);
      if (fault !== null) throw new ArchiveError(`The archive's file ${shown(file.path)} ${fault}.`);
      yield file;
    }
  } finally {
    await chunks.return(undefined);
  }
}

const tooLarge = (bytes: number) => new ArchiveError(`The archive has more than ${bytes} bytes of files.`);

async function* inflate(archive: Archive, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip({ chunkSize: INFLATED_CHUNK });
  // An error of the source destroys the gunzip with it, which throws it below.
  pipeline(Readable.from(archive instanceof Uint8Array ? [archive] : archive), gunzip, () => {});
  let inflated = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      if ((inflated += chunk.length) > maxBytes)
        throw new ArchiveError('The archive inflates to more than its files may contain.');
      yield chunk;
    }
  } catch (error) {
    if (!String((error as { code?: unknown }).code).startsWith('Z_')) throw error;
    throw new ArchiveError('The archive is not readable gzip data: it is damaged or cut off.');
  }
}

/** Finds paths that are the same on some file system, and files where others have a folder. */
class Paths {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  add(path: string): string | null {
    const folded = foldPath(path);
    if (this.#files.has(folded)) return 'is there twice (ignoring case)';
    if (this.#folders.has(folded)) return 'is a folder of another file (ignoring case)';
    for (let slash = folded.lastIndexOf('/'); slash > 0; slash = folded.lastIndexOf('/', slash - 1)) {
      const folder = folded.slice(0, slash);
      if (this.#files.has(folder)) return 'lies below another file (ignoring case)';
      if (this.#folders.has(folder)) break;
      this.#folders.add(folder);
    }
    this.#files.add(folded);
    return null;
  }
}

async function* entriesOf(blocks: Blocks, maxBytes: number): AsyncGenerator<ArchiveFile> {
  let longPath: Buffer | null = null;
  for (;;) {
    const header = await blocks.take(BLOCK);
    if (header[0] === 0) break;
    verifyChecksum(header);
    const size = octal(header, 124, 12);
    const type = String.fromCharCode(header[156] || 0x30);
    const isExtension = type === 'x' || type === 'g';
    // A small file may have a long name.
    if (size > (isExtension ? HEADER_BYTES : maxBytes)) throw tooLarge(maxBytes);
    if (type === '5') continue;
    const content = await blocks.take(size);
    await blocks.take((BLOCK - (size % BLOCK)) % BLOCK);
    if (type === 'x') longPath = paxPath(content) ?? longPath;
    if (isExtension) continue;
    const name: Buffer = longPath ?? text(header, 0, 100);
    if (!isUtf8(name)) throw new ArchiveError('The archive has a file name that is not UTF-8.');
    const path = name.toString();
    if (type !== '0') throw new ArchiveError(`The archive's entry ${shown(path)} is not a regular file.`);
    yield { path, content, executable: (octal(header, 100, 8) & 0o100) !== 0 };
    longPath = null;
  }
  await blocks.drain();
}

/** The `path` among records of the form `<length> <key>=<value>\n`. */
function paxPath(records: Buffer): Buffer | null {
  let path: Buffer | null = null;
  for (let at = 0; at < records.length;) {
    const length = Number.parseInt(records.toString('latin1', at, at + 10), 10);
    const end = at + length;
    if (!(length > 0) || end > records.length || records[end - 1] !== 0x0a)
      throw new ArchiveError('The archive has a damaged extended header.');
    const start = records.indexOf(0x20, at) + 1;
    if (records.toString('latin1', start, start + 5) === 'path=') path = records.subarray(start + 5, end - 1);
    at = end;
  }
  return path;
}

function verifyChecksum(header: Buffer): void {
  let sum = 8 * 0x20;
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += header[i]!;
  if (sum !== octal(header, 148, 8)) throw new ArchiveError('The archive has a damaged header.');
}

function octal(header: Buffer, start: number, length: number): number {
  const digits = text(header, start, length).toString('latin1').trim();
  if (!/^[0-7]*$/.test(digits)) throw new ArchiveError('The archive has a damaged number.');
  return Number.parseInt(digits || '0', 8);
}

/** The bytes up to the first NUL. */
function text(header: Buffer, start: number, length: number): Buffer {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return end < 0 ? field : field.subarray(0, end);
}

/** Reads ranges of bytes from chunks of any size. */
class Blocks {
  readonly #chunks: AsyncIterator<Buffer>;
  #current: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks;
  }

  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let missing = length; ;) {
      const part = this.#current.subarray(0, missing);
      this.#current = this.#current.subarray(part.length);
      missing -= part.length;
      if (missing === 0 && parts.length === 0) return part;
      parts.push(part);
      if (missing === 0) return Buffer.concat(parts);
      const { done, value } = await this.#chunks.next();
      if (done) throw new ArchiveError('The archive ends too early.');
      this.#current = value;
    }
  }

  /** Reads to the end, where the checksum of the compressed data is verified. */
  async drain(): Promise<void> {
    while (!(await this.#chunks.next()).done);
  }
}
