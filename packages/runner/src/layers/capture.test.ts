import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { blobs, capture, captureChanges } from '../capture/capture.ts';
import { makeBench } from '../runner.fixture.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { layer, open, sh } from './layers.fixture.ts';

const bench = await makeBench();
const canMount = bench !== undefined && (await bench.workspaces.trees.probe());

/** How a tree is made and captured: changes to a kept source, or everything. */
const WAYS = [
  ...(canMount
    ? [
        { way: 'mounted', isKept: true, see: captureChanges },
        { way: 'mounted, and listed in full', isKept: true, see: capture },
      ]
    : []),
  { way: 'copied', isKept: false, see: capture },
];

const FILES = { 'index.js': 'i\n', 'gen/own': 'own\n' };
const COMMAND = `mkdir -p gen/sub gen/empty gen/d node_modules/dep venv/bin; echo id > gen/id; echo b > gen/sub/b; echo c > gen/sub/c; printf '#!/bin/sh\\n' > gen/tool; chmod +x gen/tool
ln -s tool gen/link; ln -s sub gen/folder; echo dep > node_modules/dep/id; echo x > venv/bin/x; echo '*.tmp' > gen/.gitignore; echo top > top
touch "$(printf 'gen/sub/\\377name')"`;

interface Found {
  files: string[];
  gone: string[];
  warnings: string[];
  strays: string[];
}

describe.skipIf(!bench).each(WAYS)('a capture of a workspace over a layer ($way)', ({ isKept, see }) => {
  let key: string | undefined;
  async function workspace(files = FILES): Promise<Workspace> {
    key ??= await layer(bench!, COMMAND);
    return open(bench!, files, { layer: key, isKept });
  }

  /** Paths of the source's new or changed files, and of those that it has no more. */
  async function found(it: Workspace, base: Record<string, string> = FILES): Promise<Found> {
    const { files, over, warnings, strays = [] } = await see(bench!.host, it, Object.keys(base));
    const paths = files.map(({ path }) => path);
    const gone = over?.missing ?? Object.keys(base).filter((path) => !paths.includes(path));
    const changed = files.filter(({ path, byteSize }) => base[path]?.length !== byteSize);
    return {
      files: changed.map(({ path }) => path).sort(),
      gone: gone.filter((path) => !paths.includes(path)).sort(),
      warnings: warnings.map(({ path }) => path).sort(),
      strays: strays.map(({ path }) => path),
    };
  }

  const nothing: Found = { files: [], gone: [], warnings: [], strays: [] };

  test.each([
    ['nothing', 'true'],
    ['a touch of everything', 'find . -exec touch -h {} +; find . -type f -exec chmod u+rw {} +'],
    [
      'files written again',
      'for f in gen/id gen/sub/b top; do cp $f /tmp/f; rm $f; cp /tmp/f $f; done; ln -sfn tool gen/link',
    ],
    [
      'everything removed',
      'rm -rf gen/id gen/sub gen/d gen/empty gen/link gen/folder gen/tool gen/.gitignore top node_modules venv',
    ],
    ['rights that do not count', 'chmod 0600 gen/id; chmod 0777 gen/tool; chmod 0700 gen/sub'],
    ['rights taken away', 'chmod 0 gen/id gen/sub/b gen/sub'],
    ['an ignored file', 'echo x > gen/sub/x.tmp; echo x > gen/x.tmp'],
    [
      'a file moved there and back',
      'mv gen/id gen/other; mv gen/other gen/id; mv gen/sub gen/other; mv gen/other gen/sub',
    ],
    ['folders made again', 'cp -r gen/sub /tmp/sub; rm -r gen/sub; cp -r /tmp/sub gen/sub'],
  ])('finds nothing after %s', async (_, command) => {
    const it = await workspace();
    await sh(bench!, it, command);
    expect(await found(it)).toEqual({
      ...nothing,
      warnings: expect.toBeOneOf([[], ['node_modules', 'venv']]),
    });
    // Dependency folders are looked at as a whole: the warning is there once something was written in them.
    if (!command.startsWith('find')) expect((await found(it)).warnings).toEqual([]);
  });

  test('finds what was changed, made or moved, and says what was left out', async () => {
    const it = await workspace();
    await sh(
      bench!,
      it,
      `echo more >> gen/id; echo C > gen/sub/c; chmod -x gen/tool; echo new > gen/sub/new; echo n > node_modules/dep/new; echo n > node_modules/new; rm gen/own
rm gen/folder; mkdir gen/folder; cp gen/sub/b gen/folder/b; ln -sfn id gen/link; rm top; mkdir top; echo t > top/t; ln -s x newlink`,
    );
    expect(await found(it)).toEqual({
      files: ['gen/folder/b', 'gen/id', 'gen/sub/c', 'gen/sub/new', 'gen/tool', 'top/t'],
      gone: ['gen/own'],
      warnings: ['gen/link', 'newlink', 'node_modules'],
      strays: [],
    });
    const contents = await text(blobs(bench!.host, it, ['gen/id', 'gen/sub/c', 'gen/tool']));
    expect(contents.replaceAll('\0', '')).toMatch(/id\nmore\n.*C\n.*#!\/bin\/sh\n/s);
  });

  test('finds a renamed folder of the layer as new files', async () => {
    const it = await workspace();
    await sh(bench!, it, 'mv gen/sub moved; mv node_modules/dep dep; rm moved/*name');
    expect(await found(it)).toEqual({
      ...nothing,
      files: ['dep/id', 'moved/b', 'moved/c'],
      warnings: ['node_modules'],
    });
  });

  test('keeps the files of the source, also where they are as in the layer', async () => {
    const files = { ...FILES, 'gen/id': 'source\n', 'gen/sub/b': 'b\n', 'gen/sub/c': 'c\n' };
    const it = await workspace(files);
    expect(await found(it, files)).toEqual(nothing);
    await sh(bench!, it, 'echo id > gen/id; touch gen/sub/b; rm gen/sub/c');
    expect(await found(it, files)).toEqual({ ...nothing, files: ['gen/id'], gone: ['gen/sub/c'] });
  });

  test('looks into dependency folders that the source has', async () => {
    const files = { ...FILES, 'node_modules/own.js': 'o\n' };
    const it = await workspace(files);
    expect(await found(it, files)).toEqual(nothing);
    await sh(bench!, it, 'echo x >> node_modules/own.js; echo x >> node_modules/dep/id; echo x > venv/new');
    expect(await found(it, files)).toEqual({
      ...nothing,
      files: ['node_modules/own.js'],
      warnings: ['node_modules/dep', 'venv'],
    });
  });

  test('finds what was written through a memory map', async () => {
    const it = await workspace();
    expect(await found(it)).toEqual(nothing);
    await sh(
      bench!,
      it,
      `python3 -c "import mmap; f = open('gen/id', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = b'X'; m.close()" || printf X | dd of=gen/id conv=notrunc`,
    );
    expect((await see(bench!.host, it, Object.keys(FILES))).files.map(({ path }) => path)).toContain(
      'gen/id',
    );
  });

  test('has no contents of what it leaves out', async () => {
    const it = await workspace();
    await sh(bench!, it, 'touch gen/id');
    expect(await found(it)).toEqual(nothing);
    expect(() => blobs(bench!.host, it, ['gen/id'])).toThrow('was not captured');
  });
});
