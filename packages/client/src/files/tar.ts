/** The parts of a tar of regular files (ustar, with a pax header if a name needs one). Equal files give equal bytes. */
import { utf8 } from './bytes.ts';

export interface TarFile {
  path: string;
  byteSize: number;
  executable: boolean;
}

const BLOCK = 512;
const NAME_BYTES = 100;

/** What goes before a file's content. */
export function headersOf({ path, byteSize, executable }: TarFile): Uint8Array[] {
  const mode = executable ? 0o755 : 0o644;
  const name = utf8(path);
  // Older readers decode a name beyond ASCII in whatever encoding they are set to.
  if (name.length === path.length && name.length <= NAME_BYTES) return [header(path, byteSize, mode, '0')];
  const record = paxRecord('path', path);
  const short = path.replaceAll(/[^\x20-\x7e]/g, '_').slice(0, NAME_BYTES);
  return [
    header('PaxHeader', record.length, 0o644, 'x'),
    record,
    padding(record.length),
    header(short, byteSize, mode, '0'),
  ];
}

/** What follows a content of so many bytes. */
export const padding = (bytes: number): Uint8Array => ZEROS.subarray(0, (BLOCK - (bytes % BLOCK)) % BLOCK);
const ZEROS = new Uint8Array(BLOCK);

/** What ends the archive. */
export const END: Uint8Array = new Uint8Array(2 * BLOCK);

/** `name`: ASCII. */
function header(name: string, byteSize: number, mode: number, type: string): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const write = (text: string, at: number) => block.set(utf8(text), at);
  write(name, 0);
  write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
  write(`${octal(byteSize, 11)}\0${octal(0, 11)}\0        ${type}`, 124);
  write('ustar\x0000', 257);
  let sum = 0;
  for (const byte of block) sum += byte;
  write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

/** `<length> <key>=<value>\n`; the length includes its own digits. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = utf8(` ${key}=${value}\n`);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return utf8(`${length} ${key}=${value}\n`);
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
