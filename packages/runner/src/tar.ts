/** Writes tar headers (ustar; GNU long names over 100 bytes) for regular files with fixed owner and time. */
const BLOCK = 512;

export interface TarEntry {
  path: string;
  byteSize: number;
  executable: boolean;
}

/** The header blocks of one file; its content and `tarPadding` follow. */
export function tarHeader({ path, byteSize, executable }: TarEntry): Buffer {
  const name = Buffer.from(path);
  if (name.length <= 100) return block(name, byteSize, executable ? 0o755 : 0o644, '0');
  const longName = Buffer.concat([name, Buffer.alloc(1)]);
  return Buffer.concat([
    block(Buffer.from('././@LongLink'), longName.length, 0o644, 'L'),
    longName,
    tarPadding(longName.length),
    block(name.subarray(0, 100), byteSize, executable ? 0o755 : 0o644, '0'),
  ]);
}

/** Zeros that fill the last block of a content. */
export const tarPadding = (byteSize: number): Buffer => Buffer.alloc((BLOCK - (byteSize % BLOCK)) % BLOCK);

/** What ends an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** A whole archive in memory. */
export function tarOf(files: { path: string; content: Buffer | string; executable?: boolean }[]): Buffer {
  return Buffer.concat([
    ...files.flatMap(({ path, content, executable = false }) => {
      const bytes = Buffer.from(content);
      return [tarHeader({ path, byteSize: bytes.length, executable }), bytes, tarPadding(bytes.length)];
    }),
    TAR_END,
  ]);
}

function block(name: Buffer, size: number, mode: number, type: string): Buffer {
  const header = Buffer.alloc(BLOCK);
  name.copy(header, 0);
  const octal = (value: number, at: number, digits: number): void => {
    header.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  };
  octal(mode, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(0, 136, 11);
  header.write('        ', 148, 'latin1');
  header.write(type, 156, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
    'latin1',
  );
  return header;
}
