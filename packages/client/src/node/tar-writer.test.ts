import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { expect, test } from 'vitest';
import { tarGz } from './tar-writer.ts';

const fileOf = (path: string, content: string, executable = false) => ({
  path,
  executable,
  byteSize: Buffer.byteLength(content),
  content: Buffer.from(content),
});

test('other readers find names, contents and modes, and equal files give equal bytes', async () => {
  const files = [
    fileOf('a.txt', 'a\n'),
    fileOf('bin/run', '#!/bin/sh\n', true),
    fileOf('n'.repeat(100), ''),
    fileOf('n'.repeat(101), 'x'.repeat(513)),
    fileOf('ümlaut/検索', 'u'.repeat(512)),
  ];
  const archive = await buffer(tarGz(files, ({ content }) => content));
  expect(await buffer(tarGz(files, ({ content }) => content))).toEqual(archive);
  const reader = extract();
  reader.end(gunzipSync(archive));
  const found: unknown[] = [];
  for await (const entry of reader) {
    const { name, mode, type } = entry.header;
    found.push([type, name, mode, (await buffer(entry)).toString()]);
  }
  expect(found).toEqual(
    files.map(({ path, executable, content }) => [
      'file',
      path,
      executable ? 0o755 : 0o644,
      content.toString(),
    ]),
  );
});

test('files are read at the pace of the reader, and no further when it leaves', async () => {
  const content = Buffer.alloc(64 * 1024);
  for (let i = 0; i < content.length; i++) content[i] = Math.floor(Math.random() * 256);
  const files = Array.from({ length: 1000 }, (_, i) => ({
    path: String(i),
    byteSize: content.length,
    executable: false,
  }));
  let opened = 0;
  const reader = tarGz(files, () => {
    opened++;
    return content;
  }).getReader();
  await reader.read();
  await reader.cancel();
  expect(opened).toBeGreaterThan(0);
  expect(opened).toBeLessThan(100);
});

test('a file that cannot be read ends the stream with its error', async () => {
  const files = [fileOf('a', 'a'), fileOf('b', 'b')];
  const broken = tarGz(files, ({ path, content }) => {
    if (path === 'b') throw new Error('gone');
    return content;
  });
  await expect(buffer(broken)).rejects.toThrow('gone');
});
