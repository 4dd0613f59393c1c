/**
 * Writes tar archives of regular files and symbolic links: POSIX ustar, with a pax header only where a name needs one. Headers
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
  /** Makes it a symbolic link, which has no content. */
  target?: string;
}

export interface TarFile {
  path: string;
  content: Buffer | string;
  executable?: boolean;
  mtime?: Date;
  target?: string;
}

/** The blocks before a file's content, which `tarPadding` follows. */
export function tarHeader({ path, byteSize, executable, mtime = EPOCH, target }: TarEntry): Buffer {
  const file =
    target === undefined
      ? { byteSize, mode: executable ? 0o755 : 0o644, mtime, type: '0' }
      : { byteSize: 0, mode: 0o777, mtime, type: '2', target: short(target) };
  const record = Buffer.concat([
    ...(isPlain(path) ? [] : [paxRecord('path', path)]),
    ...(target === undefined || isPlain(target) ? [] : [paxRecord('linkpath', target)]),
  ]);
  if (record.length === 0) return headerBlock(path, file);
  return Buffer.concat([
    headerBlock('PaxHeader', { byteSize: record.length, mode: 0o644, mtime, type: 'x' }),
    record,
    tarPadding(record.length),
    headerBlock(short(path), file),
  ]);
}

/** Older readers take a name beyond ASCII for whatever encoding they are set to. */
function isPlain(name: string): boolean {
  const bytes = Buffer.byteLength(name);
  return bytes === name.length && bytes <= NAME_BYTES;
}

const short = (name: string): string => name.replaceAll(/[^\x20-\x7e]/g, '_').slice(0, NAME_BYTES);

/** The zeros that fill a content up to a whole block. */
export function tarPadding(byteSize: number): Buffer {
  return ZEROS.subarray(0, (BLOCK - (byteSize % BLOCK)) % BLOCK);
}

/** The end of an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** A whole archive in memory. */
export function tarOf(files: readonly TarFile[]): Buffer {
  const parts = files.flatMap(({ content, executable = false, ...entry }) => {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    return [tarHeader({ ...entry, byteSize: bytes.length, executable }), bytes, tarPadding(bytes.length)];
  });
  return Buffer.concat([...parts, TAR_END]);
}

interface HeaderFields {
  byteSize: number;
  mode: number;
  mtime: Date;
  type: string;
  target?: string;
}

function headerBlock(name: string, { byteSize, mode, mtime, type, target = '' }: HeaderFields): Buffer {
  const block = Buffer.alloc(BLOCK);
  const seconds = Math.floor(mtime.getTime() / 1000);
  block.write(name, 0, NAME_BYTES, 'latin1');
  block.write(
    `${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(byteSize, 11)}\0${octal(seconds, 11)}\0        ${type}`,
    NAME_BYTES,
    'latin1',
  );
  block.write(target, 157, NAME_BYTES, 'latin1');
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
