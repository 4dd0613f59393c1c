import { expect, test } from 'vitest';
import { linesOf } from './lines.ts';

async function* inPieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const lines = (text: string, size: number) => Array.fromAsync(linesOf(inPieces(Buffer.from(text), size)));

test.each([1, 2, 3, 7, 1000])(
  'only a line feed ends a line, wherever the bytes are cut (every %i)',
  async (size) => {
    const json = JSON.stringify({ text: 'a\u2028b\u2029c\u0085d\r\n漢字🙂' });
    expect(await lines(`${json}\n\n${json}\r\nlast`, size)).toEqual([json, '', `${json}\r`, 'last']);
    expect(await lines('', size)).toEqual([]);
    expect(await lines('one\n', size)).toEqual(['one']);
  },
);
