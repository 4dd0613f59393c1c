import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sha256Of } from '../../trees/manifest.ts';
import { tarFixture, type FixtureEntry } from '../../trees/tar.fixture.ts';
import { parseTarGz } from './tar-import.ts';

const MIB = 1024 * 1024;
const ok = { path: 'ok', content: 'x' };
async function files(tar: Buffer) {
  const result = await parseTarGz(gzipSync(tar, { level: 1 }), 'refuse');
  if (!result.ok) throw new Error(JSON.stringify(result));
  return Object.fromEntries(result.files.map((f) => [f.path, [f.bytes.toString('latin1'), f.executable]]));
}
async function refused(bytes: Buffer) {
  const result = await parseTarGz(bytes, 'refuse');
  if (result.ok) throw new Error('accepted');
  expect(result.code).toBe('invalid_bundle');
  return result.fields.map((f) => f.path);
}
const refusedEntries = (...entries: FixtureEntry[]) => refused(gzipSync(tarFixture(entries), { level: 1 }));

describe('accepted', () => {
  const long = `${'n'.repeat(120)}/${'m'.repeat(90)}`;
  test.each<[string, FixtureEntry[], Record<string, [string, boolean]>]>([
    [
      'files and modes',
      [
        { path: 'a', content: '1', mode: 0o700 },
        { path: 'b', content: '2', mode: 0o655 },
        { path: 'c', mode: 0o4755 },
      ],
      { a: ['1', true], b: ['2', false], c: ['', true] },
    ],
    [
      'folders and a leading ./',
      [
        { path: './', type: '5' },
        { path: './a/', type: '5', size: 4096 },
        { path: './a/b', content: 'b' },
      ],
      { 'a/b': ['b', false] },
    ],
    [
      'an old tar: type NUL, folder by slash, no magic',
      [
        { path: 'd/', type: '\0', magic: '' },
        { path: 'd/f', type: '\0', magic: '', content: 'f' },
      ],
      { 'd/f': ['f', false] },
    ],
    ['contiguous files', [{ path: 'a', type: '7', content: 'c' }], { a: ['c', false] }],
    ['a ustar prefix', [{ path: 'f', prefix: 'p/q', content: 'f' }], { 'p/q/f': ['f', false] }],
    [
      'no prefix in GNU archives',
      [{ path: 'f', prefix: '14000000000', magic: 'ustar  ', content: 'f' }],
      { f: ['f', false] },
    ],
    [
      'a pax path',
      [{ path: 'short', pax: { path: long, mtime: '1.5' }, content: 'l' }, ok],
      { [long]: ['l', false], ok: ['x', false] },
    ],
    [
      'a pax size',
      [{ path: 'a', pax: { size: '3' }, size: 0, content: 'abc' }, ok],
      { a: ['abc', false], ok: ['x', false] },
    ],
    [
      'a GNU long name',
      [
        { path: '././@LongLink', type: 'L', content: `${long}\0` },
        { path: long.slice(0, 100), content: 'l' },
        ok,
      ],
      { [long]: ['l', false], ok: ['x', false] },
    ],
    [
      'a global header (git archive)',
      [
        {
          path: 'pax_global_header',
          type: 'g',
          content: '52 comment=0123456789012345678901234567890123456789\n',
        },
        ok,
      ],
      { ok: ['x', false] },
    ],
    ['no entry but an end', [], {}],
  ])('%s', async (_what, entries, expected) => expect(await files(tarFixture(entries))).toEqual(expected));

  test('an archive without end mark', async () =>
    expect(await files(tarFixture([ok], false))).toEqual({ ok: ['x', false] }));
  test('what follows the end mark is not read', async () =>
    expect(await files(Buffer.concat([tarFixture([ok]), tarFixture([{ path: '../a' }])]))).toEqual({
      ok: ['x', false],
    }));
  test('content is byte-exact across chunk borders, and the fingerprint is of the bytes', async () => {
    const content = Buffer.from(Array.from({ length: 1_000_003 }, (_, i) => (i * 31) % 251));
    const gz = gzipSync(tarFixture([ok, { path: 'large', content }, { path: 'z', content: 'end' }]));
    const result = await parseTarGz(gz, 'refuse');
    expect(result.ok && result.files.map((f) => f.sha256)).toEqual([
      sha256Of(Buffer.from('x')),
      sha256Of(content),
      sha256Of(Buffer.from('end')),
    ]);
    expect(result.ok && result.fingerprint.toString('hex')).toBe(sha256Of(gz));
  });
});

describe('refused by place', () => {
  test.each<[string, FixtureEntry[], string[]]>([
    [
      'wrong paths and collisions',
      [{ path: './a', content: 'a' }, { path: 'b/../c' }, { path: 'd' }, { path: 'A' }],
      ['/files/1/path', '/files/3/path'],
    ],
    [
      'folders count, extended headers do not',
      [
        { path: 'd/', type: '5' },
        { path: 'x', pax: { path: '/abs' } },
        { path: 'g', type: 'g' },
        { path: '.git/c' },
      ],
      ['/files/1/path', '/files/2/path'],
    ],
    ...['2', '3', '4', '6', 'S', 'V', 'Z'].map((type): [string, FixtureEntry[], string[]] => [
      `type ${type}`,
      [ok, { path: 'l', type, link: 'ok' }, { path: 'm' }],
      ['/files/1/path'],
    ]),
    [
      'a sparse file by pax',
      [{ path: 'a', pax: { 'GNU.sparse.major': '1' }, content: '' }],
      ['/files/0/path'],
    ],
    ['a name that is no UTF-8', [ok, { path: Buffer.from([0x61, 0xff]) }], ['/files/1/path']],
    ['a pax name with NUL', [{ path: 'a', pax: { path: 'a\0b' } }], ['/files/0/path']],
    ['a doubled leading ./', [{ path: '././a' }], ['/files/0/path']],
    ['a file whose name ends with a slash', [{ path: 'a/', content: 'x' }], ['/files/0/path']],
    [
      'a file over 8 MiB',
      [ok, { path: 'l', content: Buffer.alloc(8 * MIB + 1) }, { path: 'OK' }],
      ['/files/1/content', '/files/2/path'],
    ],
    [
      'more than 32 MiB',
      Array.from({ length: 5 }, (_, i) => ({ path: `p${i}`, content: Buffer.alloc(i < 4 ? 8 * MIB : 1) })),
      ['/files'],
    ],
    ['more than 10,000 files', Array.from({ length: 10_001 }, (_, i) => ({ path: `f${i}` })), ['/files']],
    ['a size beyond everything', [ok, { path: 'l', size: 8 ** 11 - 1 }], ['/files', '/files/1/content']],
    ['a broken checksum', [ok, { path: 'l', breakChecksum: true }], ['/files']],
    ['a broken pax record', [{ path: 'p', type: 'x', content: '9 path=abcdef\n' }, ok], ['/files']],
    ['a pax record without end', [{ path: 'p', type: 'x', content: '99 path=a\n' }, ok], ['/files']],
    ['an endless extended header', [{ path: 'p', type: 'x', size: 8 * MIB, content: '' }], ['/files']],
  ])('%s', async (_what, entries, paths) => expect(await refusedEntries(...entries)).toEqual(paths));

  test('a message begins with the path', async () => {
    const entries = [
      { path: 'a/../b' },
      { path: Buffer.from([0x61, 0xff]) },
      { path: 'c\u001b\\d' },
      { path: 'e'.repeat(2_000), pax: { path: 'e'.repeat(2_000) } },
      { path: 'pipe', type: '6' },
      { path: 'big', content: Buffer.alloc(8 * MIB + 1) },
    ];
    const result = await parseTarGz(gzipSync(tarFixture(entries), { level: 1 }), 'refuse');
    expect(!result.ok && result.fields.map((f) => f.message)).toEqual([
      '"a/../b" must not contain "." or ".." as a part',
      '"a\u{fffd}" must be UTF-8',
      '"c\\u001b\\d" must not contain a backslash',
      `"${'e'.repeat(1_024)}…" must have at most 1024 characters`,
      '"pipe" must be a regular file: devices, pipes and other special files cannot be kept',
      '"big" must not be larger than 8 MiB',
    ]);
  });

  test('beyond a limit every wrong file is named, and the first limit', async () => {
    const large = Array.from({ length: 5 }, (_, i) => ({ path: `p${i}`, content: Buffer.alloc(7 * MIB) }));
    const wrong = [{ path: 'a/../b' }, { path: 'P1' }, { path: 'l', type: '2', link: 'p1' }];
    expect(await refusedEntries({ path: '.git/x' }, ...large, ...wrong)).toEqual([
      '/files',
      '/files/0/path',
      '/files/6/path',
      '/files/7/path',
      '/files/8/path',
    ]);
    const many = Array.from({ length: 10_001 }, (_, i) => ({ path: `f${i}` }));
    expect(await refusedEntries(...many, ...wrong, ok, ok)).toEqual([
      '/files',
      '/files/10001/path',
      '/files/10003/path',
      '/files/10005/path',
    ]);
  });

  test('names are read up to 20,000 entries and 64 MiB', async () => {
    const many = Array.from({ length: 19_999 }, (_, i) => ({ path: `f${i}` }));
    expect(await refusedEntries(...many, { path: '../in' }, { path: '../out' })).toEqual([
      '/files',
      '/files/19999/path',
    ]);
    const huge = (mib: number) => ({ path: 'huge', content: Buffer.alloc(mib * MIB) });
    expect(await refusedEntries(huge(60), { path: '../in' })).toEqual([
      '/files',
      '/files/0/content',
      '/files/1/path',
    ]);
    expect(await refusedEntries(huge(70), { path: '../out' })).toEqual(['/files', '/files/0/content']);
  });

  test('what is not gzip, not tar, cut or damaged', async () => {
    const gz = gzipSync(
      tarFixture([
        { path: 'a', content: Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * i) % 256)) },
      ]),
    );
    const damaged = Buffer.from(gz);
    damaged[gz.length - 6]! ^= 1;
    for (const bytes of [
      Buffer.from('hello'),
      Buffer.from('{"files":[]}'),
      tarFixture([ok]),
      gzipSync(Buffer.alloc(2000, 'not a tar ')),
      gzipSync(Buffer.alloc(0)),
      Buffer.alloc(0),
      gz.subarray(0, -30),
      gz.subarray(0, -1),
      damaged,
      gzipSync(tarFixture([ok]).subarray(0, 700)),
      gzipSync(tarFixture([{ path: 'a', size: 600, content: 'x' }], false)),
    ])
      expect(await refused(bytes)).toEqual(['/files']);
  });

  test('a bomb is not inflated to its end', async () => {
    const folders = gzipSync(Buffer.alloc(200 * MIB, tarFixture([{ path: 'd/', type: '5' }], false)), {
      level: 1,
    });
    expect(await refused(folders)).toEqual(['/files']);
  });
});
