import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { archiveOf, tarOf } from './archive.ts';
import { BlobError, createBlobReader } from './blobs.ts';
import type { BlobReader } from './blobs.ts';
import { manifestOf, sha256Of, sourceSha256 } from '../trees/manifest.ts';
import { buildPack } from '../trees/pack.ts';
import { parseTarGz } from './import/tar-import.ts';

const run = promisify(execFile);

interface TestFile {
  path: string;
  content: Buffer;
  executable: boolean;
}
const file = (path: string, content: string | Buffer, executable = false): TestFile => ({
  path,
  content: Buffer.from(content),
  executable,
});
const TREE = [
  file('README.md', '# App\n'),
  file('bin/run', '#!/bin/sh\n', true),
  file('empty', ''),
  file(`long/${'p'.repeat(150)}/${'q'.repeat(120)}`, 'long'),
  file('ümlaut/検索', 'u'),
  file('😀', 'e'),
  file('n'.repeat(100), '100'),
  file('n'.repeat(101), '101'),
  file('same', '# App\n'),
  file('block', Buffer.alloc(512, 1)),
];
const MANY = Array.from({ length: 3_000 }, (_, i) =>
  file(`d${i % 30}/f${i}`, Buffer.alloc((i * 37) % 2000, `content ${i} `)),
);

/** A store of some packs that records the ranges that are read. */
function placed(...trees: TestFile[][]) {
  const objects = new Map<string, Buffer>();
  const ranges: string[] = [];
  const packs = trees.map((files, i) => {
    const { bytes, index } = buildPack(files.map((f) => ({ sha256: sha256Of(f.content), bytes: f.content })));
    objects.set(`pack-${i}`, bytes);
    return { packKey: `pack-${i}`, index };
  });
  const store = {
    getRange: async (key: string, start: number, end: number) => {
      ranges.push(`${key} ${start}-${end}`);
      return objects.get(key)!.subarray(start, end);
    },
  };
  return { reader: createBlobReader(store, packs), ranges, objects };
}
const manifest = (files: TestFile[]) =>
  manifestOf(
    files.map(({ path, content, executable }) => ({
      path,
      sha256: sha256Of(content),
      byteSize: content.length,
      executable,
    })),
  );

describe('the archive', () => {
  test('is read back as the same source', async () => {
    for (const files of [TREE, MANY, []]) {
      const result = await parseTarGz(
        await buffer(archiveOf(manifest(files), placed(files).reader)),
        'refuse',
      );
      if (!result.ok) throw new Error(JSON.stringify(result));
      expect(sourceSha256(manifestOf(result.files.map((f) => ({ ...f, byteSize: f.bytes.length }))))).toBe(
        sourceSha256(manifest(files)),
      );
    }
  });

  test('is a function of the content, not of order, packs or the pace of its reader', async () => {
    const first = await buffer(archiveOf(manifest(MANY), placed(MANY).reader));
    const slow: Buffer[] = [];
    for await (const chunk of archiveOf(
      manifest(MANY.toReversed()),
      placed(MANY.slice(500).toReversed(), MANY.slice(0, 700)).reader,
    )) {
      slow.push(chunk as Buffer);
      await setImmediate();
    }
    expect(sha256Of(Buffer.concat(slow))).toBe(sha256Of(first));
    expect([...first.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  });

  test('is taken by tar, with names and modes', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'headrace-archive-'));
    try {
      await writeFile(join(dir, 'a.tgz'), await buffer(archiveOf(manifest(TREE), placed(TREE).reader)));
      await run('tar', ['-xzpf', 'a.tgz'], { cwd: dir, env: { ...process.env, LC_ALL: 'C.UTF-8' } });
      for (const { path, content, executable } of TREE) {
        expect((await readFile(join(dir, path))).equals(content), path).toBe(true);
        expect((await stat(join(dir, path))).mode & 0o777).toBe(executable ? 0o755 : 0o644);
      }
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  test('of a damaged pack fails instead of ending early', async () => {
    const { reader, objects } = placed(MANY);
    const pack = objects.get('pack-0')!;
    pack[pack.length - 100]! ^= 1;
    await expect(buffer(archiveOf(manifest(MANY), reader))).rejects.toThrow(BlobError);
    await expect(buffer(tarOf(manifest(MANY), reader))).rejects.toThrow(BlobError);
  });

  test('may be given up in the middle', async () => {
    for (const make of [archiveOf, tarOf]) {
      const stream = make(manifest(MANY), placed(MANY).reader);
      for await (const _ of stream) break;
      expect(stream.destroyed).toBe(true);
    }
  });
});

describe('tarOf', () => {
  test('is the archive without compression', async () => {
    expect(
      (await buffer(tarOf(manifest(TREE), placed(TREE).reader))).equals(
        gunzipSync(await buffer(archiveOf(manifest(TREE), placed(TREE).reader))),
      ),
    ).toBe(true);
  });
  test('reads neighbours together', async () => {
    const { reader, ranges } = placed(MANY.toSorted((a, b) => (a.path < b.path ? -1 : 1)));
    await buffer(tarOf(manifest(MANY), reader));
    expect(ranges.length).toBeLessThan(5);
  });
});

describe('a blob reader', () => {
  const readBlob = async (reader: BlobReader, sha256: string): Promise<Buffer> =>
    (await Array.fromAsync(reader.readBlobs([sha256])))[0]!.bytes;
  const large = Array.from({ length: 40 }, (_, i) =>
    file(`l${i}`, Buffer.from(Array.from({ length: 150_000 }, (_, j) => (i * 31 + j * j) % 256))),
  );
  test('reads one blob by one range of its frame', async () => {
    const { reader, ranges } = placed(large);
    expect((await readBlob(reader, sha256Of(large[7]!.content))).equals(large[7]!.content)).toBe(true);
    expect(ranges).toHaveLength(1);
  });
  test('reads from several packs in the order asked for', async () => {
    const { reader } = placed(large.slice(0, 20), large.slice(20), TREE);
    const asked = [large[39]!, TREE[0]!, large[0]!, large[39]!, TREE[2]!].map((f) => f.content);
    const got = await Array.fromAsync(reader.readBlobs(asked.map(sha256Of)));
    expect(got.map((b) => sha256Of(b.bytes))).toEqual(asked.map(sha256Of));
  });
  test('does not know what is in no pack', async () => {
    await expect(readBlob(placed(TREE).reader, sha256Of(Buffer.from('other')))).rejects.toThrow(BlobError);
  });
  test('notices another content under a hash', async () => {
    const { bytes, index } = buildPack([
      { sha256: sha256Of(Buffer.from('right')), bytes: Buffer.from('wrong') },
    ]);
    const reader = createBlobReader({ getRange: async () => bytes }, [{ packKey: 'p', index }]);
    await expect(readBlob(reader, sha256Of(Buffer.from('right')))).rejects.toThrow('damaged');
  });
});
