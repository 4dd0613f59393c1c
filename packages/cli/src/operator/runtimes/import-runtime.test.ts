import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { pack, type Header } from 'tar-stream';
import { afterAll, describe, expect, test } from 'vitest';
import { Fault } from '../../core/fault.ts';
import { importRuntime } from './import-runtime.ts';
import { withImported } from '@headrace/server/runtimes-config.ts';

const scratch = mkdtempSync(join(tmpdir(), 'headrace-import-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let counter = 0;

type Entry = Partial<Header> & { name: string; content?: string | Buffer };

async function tarOf(entries: Entry[]): Promise<Buffer> {
  const archive = pack();
  for (const { content = '', ...header } of entries)
    if (header.type && header.type !== 'file') archive.entry(header);
    else archive.entry(header, content);
  archive.finalize();
  return buffer(archive);
}
const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const file = (name: string, content: string, mode = 0o644): Entry => ({ name, content, mode });
const SHELL = file('bin/sh', 'a shell', 0o755);

interface Wanted {
  compress?: (bytes: Buffer) => Buffer;
  architecture?: string;
  /** Changes what the archive holds before it is written. */
  spoil?: (files: Map<string, Buffer>) => void;
}

async function ociArchive(
  layers: Entry[][],
  { compress = gzipSync, architecture = 'amd64', spoil }: Wanted = {},
) {
  const tars = await Promise.all(layers.map(tarOf));
  const files = new Map<string, Buffer>();
  const blob = (bytes: Buffer) => {
    files.set(`blobs/sha256/${sha256(bytes)}`, bytes);
    return { digest: `sha256:${sha256(bytes)}`, size: bytes.length };
  };
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  const config = blob(
    json({
      architecture,
      config: { Env: ['PATH=/opt/tools:/bin', 'LANG=C'] },
      rootfs: { type: 'layers', diff_ids: tars.map((tar) => `sha256:${sha256(tar)}`) },
    }),
  );
  const manifest = blob(json({ schemaVersion: 2, config, layers: tars.map((tar) => blob(compress(tar))) }));
  files.set('index.json', json({ schemaVersion: 2, manifests: [manifest] }));
  spoil?.(files);
  return tarOf([...files].map(([name, content]) => ({ name, content })));
}

async function dockerArchive(layers: Entry[][], { spoil }: Wanted = {}) {
  const tars = await Promise.all(layers.map(tarOf));
  const diffIds = tars.map((tar) => `sha256:${sha256(tar)}`);
  const config = Buffer.from(JSON.stringify({ rootfs: { diff_ids: diffIds } }));
  const files = new Map(tars.map((tar, i) => [`l${i}/layer.tar`, tar]));
  files.set(`${sha256(config)}.json`, config);
  const Layers = [...tars.keys()].map((i) => `l${i}/layer.tar`);
  files.set('manifest.json', Buffer.from(JSON.stringify([{ Config: `${sha256(config)}.json`, Layers }])));
  spoil?.(files);
  return tarOf([...files].map(([name, content]) => ({ name, content })));
}

/** The end of the command, and the folder of the runtime that it made. */
async function imported(archive: Buffer, name = `r${++counter}`) {
  const path = join(scratch, `${name}.tar`);
  writeFileSync(path, archive);
  const { code, said } = await importRuntime(name, path, join(scratch, 'data')).then(
    (told) => ({ code: 0, said: told }),
    (error: Error) => ({ code: error instanceof Fault ? error.exit : 1, said: error.message }),
  );
  const folder = join(scratch, 'data/runtimes', name);
  return { code, said, folder, root: join(folder, 'root') };
}

describe('an image', () => {
  test.each([
    ['OCI, gzip', (layers: Entry[][]) => ociArchive(layers)],
    ['OCI, zstd', (layers: Entry[][]) => ociArchive(layers, { compress: zstdCompressSync })],
    ['OCI, the archive compressed too', async (layers: Entry[][]) => gzipSync(await ociArchive(layers))],
    ['docker save', (layers: Entry[][]) => dockerArchive(layers)],
  ])('%s: later layers go before, and whiteouts remove', async (_name, make) => {
    const { code, said, root, folder } = await imported(
      await make([
        [
          { name: 'usr/', type: 'directory', mode: 0o755 },
          { name: 'usr/bin/', type: 'directory', mode: 0o555 },
          file('usr/bin/sh', 'a shell', 0o4755),
          { name: 'bin', type: 'symlink', linkname: 'usr/bin' },
          { name: 'usr/bin/ash', type: 'link', linkname: 'usr/bin/sh' },
          { name: 'dev/null', type: 'character-device', mode: 0o666 },
          file('etc/kept', 'kept'),
          file('etc/changed', 'first'),
          file('etc/gone', 'gone'),
          file('opt/old/a', 'a'),
          file('opt/whole/a', 'a'),
        ],
        [
          file('etc/changed', 'second', 0o600),
          file('etc/.wh.gone', ''),
          file('opt/.wh.old', ''),
          file('opt/whole/b', 'b'),
          file('opt/whole/.wh..wh..opq', ''),
          file('bin/tool', 'through a link'),
        ],
      ]),
    );
    expect([code, said]).toEqual([0, expect.stringContaining(folder)]);
    const read = (path: string) => readFileSync(join(root, path), 'utf8');
    expect([read('etc/kept'), read('etc/changed'), read('usr/bin/tool'), read('usr/bin/ash')]).toEqual([
      'kept',
      'second',
      'through a link',
      'a shell',
    ]);
    expect([readlinkSync(join(root, 'bin')), readdirSync(join(root, 'etc')).toSorted()]).toEqual([
      'usr/bin',
      ['changed', 'kept'],
    ]);
    expect([readdirSync(join(root, 'opt')), readdirSync(join(root, 'opt/whole'))]).toEqual([
      ['whole'],
      ['b'],
    ]);
    expect([existsSync(join(root, 'dev/null')), statSync(join(root, 'usr/bin/sh')).mode & 0o7777]).toEqual([
      false,
      0o755,
    ]);
    expect(readdirSync(join(scratch, 'data/runtimes')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('brings its variables, and is listed by the configuration', async () => {
    const { folder } = await imported(await ociArchive([[SHELL]]), 'listed');
    expect(JSON.parse(readFileSync(join(folder, 'runtime.json'), 'utf8'))).toEqual({
      description: null,
      env: { PATH: '/opt/tools:/bin', LANG: 'C' },
    });
    expect(withImported([], join(scratch, 'data')).find(({ name }) => name === 'listed')).toMatchObject({
      root: join(folder, 'root'),
      env: { LANG: 'C' },
    });
    const again = await imported(await ociArchive([[SHELL]]), 'listed');
    expect([again.code, again.said]).toEqual([1, expect.stringContaining('already')]);
  });

  test('of another architecture is imported with a warning', async () => {
    const { code, said } = await imported(await ociArchive([[SHELL]], { architecture: 'riscv64' }));
    expect([code, said]).toEqual([0, expect.stringContaining('riscv64')]);
  });
});

describe('refused, with nothing left behind', () => {
  const flip = (files: Map<string, Buffer>, name: string) => {
    const bytes = files.get(name)!;
    bytes[bytes.length - 1] = bytes.at(-1)! ^ 1;
  };
  const lastLayer = (files: Map<string, Buffer>) => [...files.keys()].at(-3)!;

  test.each([
    ['no archive', () => Promise.resolve(Buffer.from('text')), 'no tar archive'],
    ['another archive', () => tarOf([file('a', 'b')]), 'no image'],
    [
      'a layer that was changed',
      () => ociArchive([[SHELL]], { spoil: (files) => flip(files, lastLayer(files)) }),
      'digest',
    ],
    [
      'a layer that is missing',
      () => ociArchive([[SHELL]], { spoil: (files) => files.delete(lastLayer(files)) }),
      'lacks',
    ],
    [
      'a layer of docker save that was changed',
      () => dockerArchive([[SHELL]], { spoil: (files) => files.set('l0/layer.tar', Buffer.alloc(1024)) }),
      'digest',
    ],
    [
      'a configuration that was changed',
      () => dockerArchive([[SHELL]], { spoil: (files) => flip(files, [...files.keys()][1]!) }),
      'digest',
    ],
    ['an image without a shell', () => ociArchive([[file('a', 'b')]]), '/bin/sh'],
  ])('%s', async (_name, make, words) => {
    const { code, said, folder } = await imported(await make());
    expect([code, said, existsSync(folder)]).toEqual([1, expect.stringContaining(words), false]);
  });

  test.each<[string, Entry[]]>([
    ['a name', [file('../evil', 'x')]],
    ['a name in between', [file('a/../../evil', 'x')]],
    ['an absolute name', [file('/evil', 'x')]],
    ['a link out of the root', [{ name: 'out', type: 'symlink', linkname: '../..' }, file('out/evil', 'x')]],
    ['a hard link', [{ name: 'evil', type: 'link', linkname: '../../../r0.tar' }]],
    ['an absolute hard link', [{ name: 'evil', type: 'link', linkname: '/etc/passwd' }]],
    ['a whiteout', [file('.wh...', '')]],
  ])('%s that leaves the root', async (_name, entries) => {
    const { code, said, folder } = await imported(await ociArchive([[SHELL, ...entries]]));
    expect([code, said, existsSync(folder), existsSync(join(scratch, 'evil'))]).toEqual([
      1,
      expect.stringContaining('leaves the root'),
      false,
      false,
    ]);
  });

  test('a folder outside keeps its mode where a later layer makes a link of a folder above', async () => {
    const outside = join(scratch, 'outside');
    mkdirSync(join(outside, 'b'), { recursive: true });
    chmodSync(join(outside, 'b'), 0o700);
    const { code } = await imported(
      await ociArchive([
        [SHELL, { name: 'a/b/', type: 'directory', mode: 0o777 }],
        [{ name: 'a', type: 'symlink', linkname: outside }],
      ]),
    );
    expect([code, statSync(join(outside, 'b')).mode & 0o777]).toEqual([0, 0o700]);
  });

  test('an absolute link is followed in the root', async () => {
    const { code, root } = await imported(
      await ociArchive([
        [
          SHELL,
          file(`${scratch.slice(1)}/here`, 'x'),
          { name: 'out', type: 'symlink', linkname: scratch },
          file('out/made', 'x'),
        ],
      ]),
    );
    expect([
      code,
      existsSync(join(scratch, 'made')),
      lstatSync(join(root, scratch, 'made')).isFile(),
    ]).toEqual([0, false, true]);
  });

  test('a name that a runtime cannot have', async () => {
    const { code, said } = await imported(await ociArchive([[SHELL]]), 'Wrong Name');
    expect([code, said]).toEqual([2, expect.stringContaining('A runtime is named by')]);
  });
});
