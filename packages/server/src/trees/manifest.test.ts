import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applyDelta,
  decodeManifest,
  encodeDelta,
  encodeManifest,
  manifestOf,
  sha256Of,
  sourceSha256,
  totalBytes,
} from './manifest.ts';
import type { Tree } from './tree.ts';

const sha = (n: number) => sha256Of(Buffer.from(String(n)));
const file = fc.record({
  path: fc.string({ unit: 'grapheme', minLength: 1 }).filter((p) => !p.includes('\0')),
  sha256: fc.nat(20).map(sha),
  byteSize: fc.nat(8 * 1024 * 1024),
  executable: fc.boolean(),
});
const manifest = fc.uniqueArray(file, { selector: (f) => f.path, maxLength: 30 }).map(manifestOf);
const large = (salt: number): Tree =>
  manifestOf(
    Array.from({ length: 10_000 }, (_, i) => ({
      path: `packages/p${i % 97}/src/module-${i}.test.ts`,
      sha256: sha(i + (i % 200 === 0 ? salt : 0)),
      byteSize: i * 7,
      executable: i % 50 === 0,
    })),
  );

describe('sourceSha256', () => {
  test('is the hash that a client computes', () => {
    const files = [
      ['b/a', '1'],
      ['b.txt', '22'],
      ['B2', '3'],
      ['é', '4'],
      ['\uff5e', '5'],
      ['😀', '6'],
    ].map(([path, text], i) => ({
      path: path!,
      sha256: sha256Of(Buffer.from(text!)),
      byteSize: text!.length,
      executable: i === 1,
    }));
    const sorted = [...files].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
    const expected = createHash('sha256')
      .update(
        sorted.map((f) => `${f.executable ? '0755' : '0644'} ${f.sha256} ${f.byteSize} ${f.path}\n`).join(''),
      )
      .digest('hex');
    expect(sourceSha256(manifestOf(files.toReversed()))).toBe(expected);
  });
  test('of no files is that of nothing', () =>
    expect(sourceSha256(manifestOf([]))).toBe(sha256Of(Buffer.alloc(0))));
});

test('totalBytes adds the sizes', () =>
  expect(
    totalBytes(
      manifestOf([
        { path: 'a', sha256: sha(1), byteSize: 2, executable: false },
        { path: 'b', sha256: sha(1), byteSize: 3, executable: false },
      ]),
    ),
  ).toBe(5));

describe('binary form', () => {
  test('comes back as it was, in order', () =>
    fc.assert(
      fc.property(manifest, (m) => {
        expect([...decodeManifest(encodeManifest(m))]).toEqual([...m]);
      }),
    ));
  test('a delta on its parent gives the child, in order', () =>
    fc.assert(
      fc.property(manifest, manifest, (parent, child) => {
        expect([...applyDelta(parent, encodeDelta(parent, child))]).toEqual([...child]);
      }),
    ));
  test('a delta of few changes is small', () => {
    const [parent, child] = [large(0), large(20_000)];
    expect(encodeDelta(parent, child).length).toBeLessThan(encodeManifest(child).length / 50);
    expect(encodeDelta(parent, parent).length).toBeLessThan(32);
  });
  test('damage is noticed', () => {
    const bytes = encodeManifest(large(0));
    expect(() => decodeManifest(bytes.subarray(0, -1))).toThrow('damaged');
    expect(() => decodeManifest(Buffer.concat([Buffer.from([9]), bytes.subarray(1)]))).toThrow('version 9');
    expect(() => decodeManifest(Buffer.alloc(0))).toThrow(RangeError);
  });
});
