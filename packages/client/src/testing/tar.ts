/** A tar.gz that depends only on the files. */
import type { Files } from './world.ts';

const BLOCK = 512;
const encoder = new TextEncoder();

function header(path: string, size: number, executable: boolean): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const put = (text: string, at: number) => block.set(encoder.encode(text), at);
  const bytes = encoder.encode(path);
  // Up to 255 bytes in two parts; longer paths have no archive here.
  const cut = bytes.length <= 100 ? -1 : path.lastIndexOf('/', 154);
  put(path.slice(cut + 1), 0);
  put(`${executable ? '0000755' : '0000644'}\0${'0000000\0'.repeat(2)}`, 100);
  put(`${size.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0${' '.repeat(8)}0`, 124);
  put('ustar\u000000', 257);
  if (cut >= 0) put(path.slice(0, cut), 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

export async function tarGzip(files: Files): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (const [path, { bytes, executable }] of files)
    parts.push(
      header(path, bytes.length, executable) as Uint8Array<ArrayBuffer>,
      bytes as Uint8Array<ArrayBuffer>,
      new Uint8Array((BLOCK - (bytes.length % BLOCK)) % BLOCK),
    );
  parts.push(new Uint8Array(2 * BLOCK));
  const zipped = new Blob(parts).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(zipped).arrayBuffer());
}
