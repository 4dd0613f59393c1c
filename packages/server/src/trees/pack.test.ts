import { zstdDecompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256Of } from './manifest.ts';
import { buildPack, decodeIndex, encodeIndex, type PackIndex } from './pack.ts';

const blob = (bytes: Uint8Array) => ({ sha256: sha256Of(bytes), bytes });
function read(pack: Buffer, index: PackIndex, sha256: string): Buffer {
  const { frame, offset, length } = index.blobs.get(sha256)!;
  const at = index.frames[frame]!;
  return zstdDecompressSync(pack.subarray(at.offset, at.offset + at.length)).subarray(
    offset,
    offset + length,
  );
}

describe('a pack', () => {
  test('gives every blob back by one range, also after its index went through its binary form', () => {
    const content = fc.oneof(
      fc.uint8Array(),
      fc
        .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 300_000 }))
        .map(([b, n]) => new Uint8Array(n).fill(b)),
    );
    fc.assert(
      fc.property(fc.array(content, { maxLength: 20 }), (contents) => {
        const blobs = contents.map(blob);
        const { bytes, index } = buildPack(blobs);
        const again = decodeIndex(encodeIndex(index));
        expect(again).toEqual(index);
        for (const b of blobs) expect(read(bytes, again, b.sha256).equals(b.bytes)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test('stores equal blobs once and keeps small neighbours in one frame', () => {
    const small = Array.from({ length: 100 }, (_, i) => blob(Buffer.alloc(1000, i)));
    const { index } = buildPack([...small, ...small]);
    expect([index.frames.length, index.blobs.size]).toEqual([1, 100]);
  });

  test('a large blob does not share a frame with what comes before', () => {
    const { index } = buildPack([
      blob(Buffer.alloc(10)),
      blob(Buffer.alloc(1_000_000)),
      blob(Buffer.alloc(20)),
    ]);
    expect(index.frames.map((f) => f.rawLength)).toEqual([10, 1_000_000, 20]);
  });

  test('no blobs are no bytes', () =>
    expect(buildPack([])).toEqual({ bytes: Buffer.alloc(0), index: { frames: [], blobs: new Map() } }));

  test('a damaged index is noticed', () => {
    const bytes = encodeIndex(buildPack([blob(Buffer.from('a')), blob(Buffer.from('b'))]).index);
    expect(() => decodeIndex(bytes.subarray(0, -1))).toThrow('damaged');
    expect(() => decodeIndex(Buffer.from([7]))).toThrow('version 7');
  });
});
