/**
 * Reads regular files and symbolic links from a tar archive: ustar, pax paths and sizes, GNU long names. Skips entries of other
 * types. Small on purpose: it runs inside sandboxes, where every module costs start time, and reads first
 * entries outside.
 */
export interface TarFile {
  path: string;
  executable: boolean;
  content: Buffer;
  /** What a symbolic link leads to. */
  target?: string;
}

const BLOCK = 512;

/** All regular files and symbolic links of a whole archive. Throws on a damaged one. */
export function* tarFiles(archive: Buffer): Generator<TarFile> {
  let longName: string | undefined,
    pax: Record<string, string> = {};
  for (let at = 0; at + BLOCK <= archive.length;) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return;
    const size = Number(pax['size'] ?? numberIn(header, 124, 12));
    const content = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (!Number.isSafeInteger(size) || content.length !== size) throw new Error('the archive is cut off');
    const type = String.fromCharCode(header[156]!);
    if (type === 'L') longName = textIn(content, 0, size);
    else if (type === 'x') pax = paxRecords(content);
    else {
      const prefix = textIn(header, 345, 155);
      const path =
        pax['path'] ??
        longName ??
        (prefix && header.toString('latin1', 257, 263) === 'ustar\0' ? `${prefix}/` : '') +
          textIn(header, 0, 100);
      if (type === '0' || type === '\0')
        yield { path, executable: (numberIn(header, 100, 8) & 0o100) !== 0, content };
      else if (type === '2')
        yield { path, executable: false, content, target: pax['linkpath'] ?? textIn(header, 157, 100) };
      longName = undefined;
      pax = {};
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function textIn(bytes: Buffer, start: number, length: number): string {
  const end = bytes.indexOf(0, start);
  return bytes.toString('utf8', start, end === -1 || end > start + length ? start + length : end);
}

function numberIn(bytes: Buffer, start: number, length: number): number {
  if ((bytes[start]! & 0x80) !== 0)
    return Number(BigInt(`0x${bytes.toString('hex', start + 1, start + length)}`));
  return Number.parseInt(textIn(bytes, start, length).trim() || '0', 8);
}

/** Records "LENGTH KEY=VALUE\n", lengths in bytes. */
function paxRecords(bytes: Buffer): Record<string, string> {
  const records: Record<string, string> = {};
  for (let at = 0; at < bytes.length;) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 12), 10);
    if (!(length > 0)) return records;
    const record = bytes.toString('utf8', bytes.indexOf(0x20, at) + 1, at + length - 1);
    records[record.slice(0, record.indexOf('='))] = record.slice(record.indexOf('=') + 1);
    at += length;
  }
  return records;
}
