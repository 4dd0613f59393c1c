/**
 * Reads a tar archive (ustar, pax, GNU long names) from chunks, entry by entry, without trusting it: a
 * checksum, number or record that is wrong ends the reading. Sizes are known before content is read, so
 * that limits hold before bytes are kept.
 */
import { isUtf8 } from 'node:buffer';

export interface TarEntry {
  /** Null when the name is not UTF-8. */
  path: string | null;
  /** The name as it is in the archive. */
  name: Buffer;
  kind: 'file' | 'folder' | 'symlink' | 'hardlink' | 'other';
  /** What a link leads to: for a hard link the path of an entry. Null for others, and when it is not UTF-8. */
  target: string | null;
  byteSize: number;
  /** The owner's execute bit. */
  executable: boolean;
  /** Reads the content; at most once, before the next entry. Skipped where nobody calls it. */
  read(): Promise<Buffer>;
}

/** The archive is damaged or no tar at all. */
export class TarError extends Error {
  override readonly name = 'TarError';
}

const BLOCK = 512;
/** The longest extended header: a name of 1,024 characters needs 4 KiB. */
const MAX_EXTENDED = 1024 * 1024;

/** The values of extended headers for the next entry. */
interface Extended {
  path?: Buffer;
  linkPath?: Buffer;
  size?: number;
  isSparse?: boolean;
  longName?: Buffer;
  longLink?: Buffer;
}

/**
 * Yields the entries up to the end mark. Ends `chunks` too when its reader stops early. Throws TarError, and
 * what `chunks` throws.
 */
export async function* readTar(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<TarEntry> {
  const source = new ChunkReader(chunks);
  try {
    yield* readEntries(source);
  } finally {
    await source.close();
  }
}

async function* readEntries(source: ChunkReader): AsyncGenerator<TarEntry> {
  let extended: Extended = {};
  let entries = 0;
  for (;;) {
    const header = await source.block();
    if (header === null) break;
    if (header[0] === 0 && header.every((b) => b === 0)) {
      await source.drain();
      return;
    }
    verifyChecksum(header);
    const type = String.fromCharCode(header[156] || 0x30);
    const size = number(header, 124, 136);
    if (EXTENDED.has(type)) {
      if (size > MAX_EXTENDED) throw new TarError('an extended header is too long');
      readExtended(type, await source.padded(size), extended);
      continue;
    }
    const content = source.section(HAS_NO_CONTENT.has(type) ? 0 : (extended.size ?? size));
    const name = extended.path ?? extended.longName ?? shortName(header);
    const kind = kindOf(type, header, extended);
    const isLink = kind === 'symlink' || kind === 'hardlink';
    yield {
      path: utf8OrNull(name),
      name,
      kind,
      target: isLink ? utf8OrNull(extended.linkPath ?? extended.longLink ?? text(header, 157, 257)) : null,
      byteSize: content.byteSize,
      executable: (number(header, 100, 108) & 0o100) !== 0,
      read: () => content.read(),
    };
    await content.skip();
    entries++;
    extended = {};
  }
  if (entries === 0) throw new TarError('it holds no entry and no end mark');
}

const EXTENDED = new Set(['x', 'g', 'X', 'L', 'K']);
/** Links, devices, folders and pipes: no bytes follow, whatever size their headers have. */
const HAS_NO_CONTENT = new Set(['1', '2', '3', '4', '5', '6']);

function kindOf(type: string, header: Buffer, extended: Extended): TarEntry['kind'] {
  if (type === '5') return 'folder';
  if (type === '2') return 'symlink';
  if (type === '1') return 'hardlink';
  if (extended.isSparse || (type !== '0' && type !== '7')) return 'other';
  // Before POSIX there was no type for folders, only a trailing slash.
  const isOld = header[156] === 0;
  return isOld && text(header, 0, 100).at(-1) === 0x2f ? 'folder' : 'file';
}

function utf8OrNull(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

function shortName(header: Buffer): Buffer {
  const name = text(header, 0, 100);
  // GNU's magic has a space here and uses the prefix's place for times.
  const prefix = header.toString('latin1', 257, 263) === 'ustar\0' ? text(header, 345, 500) : Buffer.alloc(0);
  return prefix.length > 0 ? Buffer.concat([prefix, Buffer.from('/'), name]) : name;
}

function readExtended(type: string, content: Buffer, extended: Extended): void {
  if (type === 'L') extended.longName = text(content, 0, content.length);
  if (type === 'K') extended.longLink = text(content, 0, content.length);
  if (type !== 'x' && type !== 'X') return;
  for (const [key, value] of paxRecords(content)) {
    if (key === 'path') extended.path = value;
    else if (key === 'linkpath') extended.linkPath = value;
    else if (key === 'size') extended.size = decimal(value);
    else if (key.startsWith('GNU.sparse.')) extended.isSparse = true;
  }
}

/** `<length> <key>=<value>\n`, the length counting the whole record. */
function* paxRecords(content: Buffer): Generator<[string, Buffer]> {
  for (let at = 0; at < content.length && content[at] !== 0;) {
    const space = content.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : decimal(content.subarray(at, space));
    const equals = content.indexOf(0x3d, space);
    const end = at + length;
    if (!(length > 0) || end > content.length || equals < 0 || equals >= end || content[end - 1] !== 0x0a)
      throw new TarError('an extended header is damaged');
    yield [content.toString('utf8', space + 1, equals), content.subarray(equals + 1, end - 1)];
    at = end;
  }
}

function decimal(bytes: Buffer): number {
  const digits = bytes.toString('latin1');
  if (!/^\d{1,15}$/.test(digits)) throw new TarError('a number is damaged');
  return Number(digits);
}

/** The bytes up to the first NUL. */
function text(bytes: Buffer, from: number, to: number): Buffer {
  const field = bytes.subarray(from, to);
  const end = field.indexOf(0);
  return end < 0 ? field : field.subarray(0, end);
}

/** Octal digits, or big-endian bytes behind a first byte of 0x80 (GNU). */
function number(header: Buffer, from: number, to: number): number {
  if (header[from]! & 0x80) {
    let n = header[from]! & 0x7f;
    for (let i = from + 1; i < to; i++) n = n * 256 + header[i]!;
    if (n > Number.MAX_SAFE_INTEGER) throw new TarError('a number is too large');
    return n;
  }
  const digits = text(header, from, to).toString('latin1').trim();
  if (!/^[0-7]*$/.test(digits)) throw new TarError('a number is damaged');
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function verifyChecksum(header: Buffer): void {
  let sum = 8 * 0x20;
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += header[i]!;
  if (sum !== number(header, 148, 156)) throw new TarError('a header is damaged');
}

interface Section {
  byteSize: number;
  read(): Promise<Buffer>;
  skip(): Promise<void>;
}

/** Blocks and byte ranges out of chunks of any size. */
class ChunkReader {
  readonly #chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  #current: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#chunks =
      Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  }

  /** The next block, or null at the end. */
  async block(): Promise<Buffer | null> {
    if (this.#current.length === 0 && !(await this.#more())) return null;
    return this.#bytes(BLOCK);
  }

  /** Content and its padding up to a whole block. */
  async padded(length: number): Promise<Buffer> {
    const bytes = await this.#bytes(length);
    await this.#skip(padding(length));
    return bytes;
  }

  section(byteSize: number): Section {
    let isDone = false;
    return {
      byteSize,
      read: () => {
        isDone = true;
        return this.padded(byteSize);
      },
      skip: async () => {
        if (!isDone) await this.#skip(byteSize + padding(byteSize));
      },
    };
  }

  /** Reads to the end, so that the checksum behind compressed data is verified. */
  async drain(): Promise<void> {
    this.#current = Buffer.alloc(0);
    while (await this.#more()) this.#current = Buffer.alloc(0);
  }

  /** Ends the source of the chunks. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #bytes(length: number): Promise<Buffer> {
    if (this.#current.length >= length) return this.#take(length);
    const parts: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      if (this.#current.length === 0 && !(await this.#more())) throw new TarError('it ends too early');
      const part = this.#take(Math.min(missing, this.#current.length));
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  async #skip(length: number): Promise<void> {
    let missing = length;
    while (missing > 0) {
      if (this.#current.length === 0 && !(await this.#more())) throw new TarError('it ends too early');
      missing -= this.#take(Math.min(missing, this.#current.length)).length;
    }
  }

  #take(length: number): Buffer {
    const part = this.#current.subarray(0, length);
    this.#current = this.#current.subarray(length);
    return part;
  }

  async #more(): Promise<boolean> {
    while (this.#current.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      this.#current = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    return true;
  }
}

function padding(length: number): number {
  return (BLOCK - (length % BLOCK)) % BLOCK;
}
