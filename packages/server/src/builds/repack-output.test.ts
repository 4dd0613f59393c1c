import { createHash } from 'node:crypto';
import { pack } from 'tar-stream';
import type { Header } from 'tar-stream';
import { expect, test } from 'vitest';
import type { ManifestFile } from '../db/schema.ts';
import { readTar } from '../trees/tar-reader.ts';
import { OutputFault, repackOutput } from './repack-output.ts';

type Entry = Partial<Header> & { name: string } & { content?: string | Buffer };

async function tarOf(entries: Entry[]): Promise<Buffer> {
  const tar = pack();
  for (const { content, ...header } of entries) tar.entry(header, content ?? '');
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function repack(
  tar: Buffer,
  chunkBytes = tar.length,
): Promise<{ bytes: Buffer; files: ManifestFile[] }> {
  const files: ManifestFile[] = [];
  const parts: Buffer[] = [];
  function* chunks() {
    for (let at = 0; at < tar.length; at += chunkBytes) yield tar.subarray(at, at + chunkBytes);
  }
  for await (const part of repackOutput(
    (async function* () {
      yield* chunks();
    })(),
    files,
  ))
    parts.push(part);
  return { bytes: Buffer.concat(parts), files };
}

const faultOf = async (entries: Entry[]) =>
  repack(await tarOf(entries)).then(
    () => null,
    (error: OutputFault) => [error.code, error.message],
  );

test('keeps regular files with their mode, and leaves times, owners and folders behind', async () => {
  const long = `${'long/'.repeat(30)}ä`;
  const common = (mtime: number, uid: number): Entry[] => [
    { name: './', type: 'directory', mtime: new Date(mtime) },
    { name: './a.txt', content: 'a', mode: 0o664, mtime: new Date(mtime), uid },
    { name: './bin', type: 'directory', mode: 0o700 },
    { name: './bin/run', content: '#!', mode: 0o744, uid },
    { name: `./${long}`, content: 'deep', mode: 0o600 },
  ];
  const { bytes, files } = await repack(await tarOf(common(1_000_000, 1000)));
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(files).toEqual([
    { path: 'a.txt', byteSize: 1, sha256: sha256('a'), mode: '0644' },
    { path: 'bin/run', byteSize: 2, sha256: sha256('#!'), mode: '0755' },
    { path: long, byteSize: 4, sha256: sha256('deep'), mode: '0644' },
  ]);
  const read: [string | null, string, string, boolean][] = [];
  for await (const entry of readTar([bytes]))
    read.push([entry.path, entry.kind, (await entry.read()).toString(), entry.executable]);
  expect(read).toEqual([
    ['a.txt', 'file', 'a', false],
    ['bin/run', 'file', '#!', true],
    [long, 'file', 'deep', false],
  ]);
  expect((await repack(await tarOf(common(9_000_000, 0)), 700)).bytes.equals(bytes)).toBe(true);
});

test.each<[string, Entry[], RegExp]>([
  ['a symlink', [{ name: './x/link', type: 'symlink', linkname: '/etc/passwd' }], /x\/link/],
  [
    'a hard link',
    [
      { name: './a', content: 'a' },
      { name: './b', type: 'link', linkname: './a' },
    ],
    /"b"/,
  ],
  ['a device', [{ name: './null', type: 'character-device' }], /null/],
  ['a pipe', [{ name: './pipe', type: 'fifo' }], /pipe/],
  ['a path that leaves the folder', [{ name: '../a', content: 'a' }], /\.\.\/a/],
  ['an absolute path', [{ name: '/etc/a', content: 'a' }], /\/etc\/a/],
  ['a reserved name', [{ name: './sub/.GIT/config', content: 'a' }], /\.GIT/],
  ['a control character', [{ name: './a\nb', content: 'a' }], /a\\u000ab/],
  [
    'names alike but for case',
    [
      { name: './Same', content: 'a' },
      { name: './same', content: 'b' },
    ],
    /"same"/,
  ],
  [
    'the same name twice',
    [
      { name: './a', content: 'a' },
      { name: './a', content: 'b' },
    ],
    /"a"/,
  ],
])('%s is output_invalid, with its path', async (_, entries, path) => {
  const [code, message] = (await faultOf(entries))!;
  expect(code).toBe('output_invalid');
  expect(message).toMatch(path);
});

test('a name that is not UTF-8 is output_invalid', async () => {
  const tar = await tarOf([{ name: './x', content: 'a' }]);
  tar[2] = 0xff;
  // The header's checksum has to fit the changed byte.
  const sum = tar.subarray(0, 512).reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 0x20 : byte), 0);
  tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  await expect(repack(tar)).rejects.toMatchObject({ code: 'output_invalid' });
});

test('10,000 files pass, one more is output_too_large', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `./${i}`, content: '' }));
  expect((await repack(await tarOf(many(10_000)))).files.length).toBe(10_000);
  expect((await faultOf(many(10_001)))?.[0]).toBe('output_too_large');
});

test('100,000 folders pass, one more is output_too_large', async () => {
  const root = await tarOf([{ name: './', type: 'directory' }]);
  const folders = (count: number) =>
    Buffer.concat([...Array.from({ length: count }, () => root.subarray(0, 512)), root.subarray(512)]);
  expect((await repack(folders(100_000), 1 << 20)).files).toEqual([]);
  await expect(repack(folders(100_001), 1 << 20)).rejects.toMatchObject({
    code: 'output_too_large',
    message: expect.stringContaining('folders'),
  });
});

test('64 MiB pass, one byte more is refused before it is read', async () => {
  const half = Buffer.alloc(32 * 1024 * 1024);
  expect(
    (
      await repack(
        await tarOf([
          { name: './a', content: half },
          { name: './b', content: half },
        ]),
        1 << 20,
      )
    ).files.length,
  ).toBe(2);
  const head = (
    await tarOf([
      { name: './a', content: half },
      { name: './b', content: half },
      { name: './c', content: 'c' },
    ])
  ).subarray(0, 2 * (half.length + 512) + 512);
  await expect(repack(head, 1 << 20)).rejects.toMatchObject({ code: 'output_too_large' });
});

test('a tar that breaks off is no output', async () => {
  const tar = await tarOf([{ name: './a', content: 'a'.repeat(2000) }]);
  await expect(repack(tar.subarray(0, 1024))).rejects.not.toBeInstanceOf(OutputFault);
});
