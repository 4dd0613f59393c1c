import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import { expect, test } from 'vitest';
import { tarOf, type TarFile } from './tar.ts';

const FILES: TarFile[] = [
  { path: 'a.txt', content: 'a\n' },
  { path: 'bin/run', content: '#!/bin/sh\n', executable: true },
  { path: 'n'.repeat(100), content: '' },
  { path: 'n'.repeat(101), content: 'x'.repeat(513) },
  { path: 'ümlaut/検索', content: Buffer.alloc(512, 'u') },
];

async function readBack(tar: Buffer) {
  const entries: { path: string; content: string; mode: number | undefined; mtime: number }[] = [];
  const reader = extract();
  reader.end(tar);
  for await (const entry of reader) {
    const { name, mode, mtime } = entry.header;
    entries.push({
      path: name,
      content: (await buffer(entry)).toString(),
      mode,
      mtime: mtime.getTime(),
    });
  }
  return entries;
}

test('an archive is read back with names, contents and modes', async () => {
  expect(await readBack(tarOf(FILES))).toEqual(
    FILES.map(({ path, content, executable }) => ({
      path,
      content: content.toString(),
      mode: executable ? 0o755 : 0o644,
      mtime: 0,
    })),
  );
});

test('the bytes of an archive never change: ETags and the hashes of artifacts depend on them', () => {
  expect(createHash('sha256').update(tarOf(FILES)).digest('hex')).toBe(
    'd394426074b6b0027e17df0afd70a454df3731064e41102468bb0e7a8efc100c',
  );
});

test('a file may have a time', async () => {
  const mtime = new Date('2026-01-02T03:04:05Z');
  const entries = await readBack(tarOf(FILES.map((file) => ({ ...file, mtime }))));
  expect(entries.map((entry) => entry.mtime)).toEqual(FILES.map(() => mtime.getTime()));
});
