/**
 * Writes tar archives of regular files: POSIX ustar, with a pax header only where a name needs one. Headers
 * know no owners and, unless asked, no times, so that equal files give equal bytes: artifacts' hashes and
 * archives' ETags depend on every byte here.
 */
const BLOCK = 512;
const NAME_BYTES = 100;
const ZEROS = Buffer.alloc(BLOCK);
const EPOCH = new Date(0);

export interface TarEntry {
  path: string;
  byteSize: number;
  executable: boolean;
  /** The epoch by default. */
  mtime?: Date;
}

export interface TarFile {
  path: string;
  content: Buffer | string;
  executable?: boolean;
  mtime?: Date;
}

/** The blocks before a file's content, which `tarPadding` follows. */
export function tarHeader({ path, byteSize, executable, mtime = EPOCH }: TarEntry): Buffer {
  const file = { byteSize, mode: executable ? 0o755 : 0o644, mtime, type: '0' };
  const bytes = Buffer.byteLength(path);
  // Older readers take a name beyond ASCII for whatever encoding they are set to.
  if (bytes === path.length && bytes <= NAME_BYTES) return headerBlock(path, file);
  const record = paxRecord('path', path);
  const short = path.replaceAll(/[^\x20-\x7e]/g, '_').slice(0, NAME_BYTES);
  return Buffer.concat([
    headerBlock('PaxHeader', { byteSize: record.length, mode: 0o644, mtime, type: 'x' }),
    record,
    tarPadding(record.length),
    headerBlock(short, file),
  ]);
}

/** The zeros that fill a content up to a whole block. */
export function tarPadding(byteSize: number): Buffer {
  return ZEROS.subarray(0, (BLOCK - (byteSize % BLOCK)) % BLOCK);
}

/** The end of an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** A whole archive in memory. */
export function tarOf(files: readonly TarFile[]): Buffer {
  const parts = files.flatMap(({ path, content, executable = false, mtime }) => {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    return [tarHeader({ path, byteSize: bytes.length, executable, mtime }), bytes, tarPadding(bytes.length)];
  });
  return Buffer.concat([...parts, TAR_END]);
}

interface HeaderFields {
  byteSize: number;
  mode: number;
  mtime: Date;
  type: string;
}

function headerBlock(name: string, { byteSize, mode, mtime, type }: HeaderFields): Buffer {
  const block = Buffer.alloc(BLOCK);
  const seconds = Math.floor(mtime.getTime() / 1000);
  block.write(name, 0, NAME_BYTES, 'latin1');
  block.write(
    `${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(byteSize, 11)}\0${octal(seconds, 11)}\0        ${type}`,
    NAME_BYTES,
    'latin1',
  );
  block.write('ustar\u000000', 257, 'latin1');
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += block[i]!;
  block.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return block;
}

const octal = (n: number, digits: number) => n.toString(8).padStart(digits, '0');

/** `<length> <key>=<value>\n`, where the length counts its own digits. */
function paxRecord(key: string, value: string): Buffer {
  const body = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(body);
  let length = bytes + 1;
  while (String(length).length + bytes !== length) length = String(length).length + bytes;
  return Buffer.from(`${length}${body}`);
}
