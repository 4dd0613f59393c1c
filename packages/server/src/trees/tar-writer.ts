/**
 * Tar headers as a function of path, size and mode alone: no times, no owners. POSIX ustar, pax only where
 * a name needs it.
 */
const BLOCK = 512;
const NAME_BYTES = 100;
const ZEROS = Buffer.alloc(BLOCK);

/** The blocks before a file's content. */
export function fileHeader(path: string, byteSize: number, executable: boolean): Buffer {
  const bytes = Buffer.byteLength(path);
  // Older readers take a name beyond ASCII for whatever encoding they are set to.
  if (bytes === path.length && bytes <= NAME_BYTES)
    return header(path, byteSize, executable ? 0o755 : 0o644, '0');
  const record = paxRecord('path', path);
  const short = path.replaceAll(/[^\x20-\x7e]/g, '_').slice(0, NAME_BYTES);
  return Buffer.concat([
    header('PaxHeader', record.length, 0o644, 'x'),
    record,
    padding(record.length),
    header(short, byteSize, executable ? 0o755 : 0o644, '0'),
  ]);
}

/** What fills a content up to a whole block. */
export function padding(byteSize: number): Buffer {
  return ZEROS.subarray(0, (BLOCK - (byteSize % BLOCK)) % BLOCK);
}

export const END_OF_TAR = Buffer.alloc(2 * BLOCK);

function header(name: string, byteSize: number, mode: number, type: '0' | 'x'): Buffer {
  const h = Buffer.alloc(BLOCK);
  h.write(name, 0, NAME_BYTES, 'latin1');
  h.write(
    `${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(byteSize, 11)}\0${octal(0, 11)}\0        ${type}`,
    NAME_BYTES,
    'latin1',
  );
  h.write('ustar\u000000', 257, 'latin1');
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += h[i]!;
  h.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return h;
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
