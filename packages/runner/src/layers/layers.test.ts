import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { capture, captureChanges } from '../capture/capture.ts';
import { endOf, entriesOf, makeBench, outputOf, tarStream } from '../runner.fixture.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { layer, next, open, setup, sh } from './layers.fixture.ts';

const bench = await makeBench();
const canMount = bench !== undefined && (await bench.workspaces.trees.probe());
/** Whether trees lie over a kept source, or are unpacked. */
const WAYS = [...(canMount ? [['mounted', true] as const] : []), ['copied', false] as const];

const FILES = { 'package.json': '{}\n', 'index.js': 'i\n' };

describe.skipIf(!bench)('what a setup leaves', () => {
  test.each(WAYS)('lies below later workspaces, and belongs to each of them (%s)', async (_, isKept) => {
    const key = await layer(
      bench!,
      'ls; mkdir -p gen node_modules/dep; echo made > gen/id; echo dep > node_modules/dep/id; echo changed > package.json',
      { 'package.json': '{}\n' },
    );
    const [one, two] = [
      await open(bench!, FILES, { layer: key, isKept }),
      await open(bench!, FILES, { layer: key, isKept }),
    ];
    const look = 'cat gen/id node_modules/dep/id package.json index.js; ls -A . gen';
    const expected = 'made\ndep\n{}\ni\n.:\ngen\nindex.js\nnode_modules\npackage.json\n\ngen:\nid\n';
    expect(await sh(bench!, one, look)).toBe(expected);
    await sh(bench!, one, 'echo own >> gen/id; rm -r node_modules; mv gen other; chmod 777 other/id');
    expect(await sh(bench!, two, look)).toBe(expected);
    expect(await sh(bench!, one, 'cat other/id')).toBe('made\nown\n');
    expect(await sh(bench!, await open(bench!, FILES, { layer: key, isKept }), look)).toBe(expected);
  });

  test.each(WAYS)('gives way to the source at, above and below its paths (%s)', async (_, isKept) => {
    const key = await layer(
      bench!,
      'mkdir -p gen above/x; echo layer > gen/at.txt; echo layer > gen/only.txt; echo layer > above/x/y; echo layer > below; echo layer > beside; ln -s gen over',
    );
    const files = {
      'gen/at.txt': 'source\n',
      above: 'a file\n',
      'below/deep/file.txt': 'deep\n',
      'over/x': 'x\n',
    };
    const it = await open(bench!, files, { layer: key, isKept });
    expect(
      await sh(bench!, it, 'cat gen/at.txt gen/only.txt above below/deep/file.txt beside over/x; ls gen'),
    ).toBe('source\nlayer\na file\ndeep\nlayer\nx\nat.txt\nonly.txt\n');
  });

  test.each(WAYS)('is there for builds and previews that have it (%s)', async (_, isKept) => {
    const key = await layer(bench!, 'mkdir gen; echo made > gen/id');
    for (const origin of [{ layer: key }, {}]) {
      const { task } = bench!.tasks.start(next('bld'), {
        kind: 'build',
        command: 'cat gen/id',
        outputDirectory: '.',
        timeoutMs: 30_000,
      });
      const keep = isKept ? { keep: { key: next('src'), group: 'prj' } } : {};
      await task.putSource(tarStream(FILES), { ...keep, ...origin });
      expect(outputOf(await entriesOf(task), 'stdout')).toBe('layer' in origin ? 'made\n' : '');
    }
  });

  test.each(WAYS)('is files, folders and links that stay inside (%s)', async (_, isKept) => {
    const key = await layer(
      bench!,
      `mkdir -p gen/empty gen/d gen/.git .HOPLITE closed/in gen/sub; echo '#!/bin/sh\necho runs' > gen/tool; chmod 4755 gen/tool
ln -s tool gen/link; ln -s ../d gen/d/loop; ln -s /workspace/gen/tool gen/absolute; ln -s self gen/self; ln -s missing gen/dangling
ln -s /etc/hostname gen/out1; ln -s ../../outside gen/out2; ln -s .. gen/up; ln -s up/../x gen/out3; ln -s out1/x gen/out4; ln -s /workspaces gen/out5
mkfifo gen/pipe; node -e 'require("net").createServer().listen("gen/socket", () => process.exit())'
echo x > gen/.git/config; echo x > .HOPLITE/x; echo c > closed/in/c; chmod 0 closed/in/c closed/in closed; ln gen/tool gen/hard
touch "$(printf 'gen/\\377name')"; mkdir "$(printf 'gen/\\377folder')"; touch "$(printf 'gen/\\377folder/x')"`,
    );
    const it = await open(bench!, {}, { layer: key, isKept });
    expect(
      await sh(
        bench!,
        it,
        `./gen/tool; ls -A; ls -AQ gen; cat closed/in/c; stat -c %a gen/tool; find gen -type f -path '*folder*' | wc -l; readlink gen/link gen/d/loop gen/absolute`,
      ),
    ).toBe(
      `runs
closed
gen
"absolute"
"d"
"dangling"
"empty"
"hard"
"link"
"self"
"sub"
"tool"
"up"
"\\377folder"
"\\377name"
c
755
1
tool
../d
/workspace/gen/tool
`,
    );
  });

  test('is kept for its project until that is forgotten; a task that is removed leaves it', async () => {
    const group = next('prj');
    const { key, end } = await setup(bench!, 'head -c 100000 /dev/zero > x', { group });
    expect(end).toMatchObject({ outcome: 'completed', exitCode: 0 });
    expect(end.layer!.byteSize).toBeGreaterThanOrEqual(100_000);
    const second = await setup(bench!, 'true', { group });
    await bench!.tasks.remove(key);
    const { trees } = bench!.workspaces;
    expect([trees.layers.keys(group), trees.groups().includes(group)]).toEqual([[second.key, key], true]);
    const it = await open(bench!, {}, { layer: key });
    expect(trees.layers.keys(group)).toEqual([key, second.key]);
    trees.forget(group);
    expect(trees.layers.keys(group)).toEqual([]);
    expect(await sh(bench!, it, 'wc -c < x')).toBe('100000\n');
    await expect(open(bench!, {}, { layer: key })).rejects.toMatchObject({ status: 404, code: 'no_layer' });
  });

  test('is nothing where the command failed, or took too long', async () => {
    const failed = await setup(bench!, 'echo why; touch x; exit 3');
    expect([failed.end.outcome, failed.end.exitCode, failed.end.layer, outputOf(failed.entries)]).toEqual([
      'completed',
      3,
      undefined,
      'why\n',
    ]);
    const late = await setup(bench!, 'touch x; sleep 60', { timeoutMs: 500 });
    expect([late.end.outcome, late.end.timedOut, late.end.exitCode, late.end.layer]).toEqual([
      'completed',
      true,
      null,
      undefined,
    ]);
    for (const { key } of [failed, late])
      await expect(open(bench!, {}, { layer: key })).rejects.toMatchObject({ code: 'no_layer' });
  });
});

test.skipIf(!bench)('a setup takes a plain tar, once, and its end comes once it is removed', async () => {
  const request = { kind: 'setup' as const, command: 'sleep 60', group: 'prj', timeoutMs: 60_000 };
  const { task } = bench!.tasks.start(next('set'), request);
  await expect(task.putSource(undefined, { base: 'src_x' })).rejects.toMatchObject({ status: 400 });
  await expect(task.putSource(tarStream({}), { layer: 'set_x' })).rejects.toMatchObject({ status: 400 });
  await task.putSource(tarStream({}));
  await expect(task.putSource(tarStream({}))).rejects.toMatchObject({ code: 'invalid_state' });
  await bench!.tasks.remove(task.id);
  expect(endOf(await entriesOf(task)).outcome).toBe('cancelled');
  expect(() => bench!.tasks.start(task.id, request)).toThrow('removed');
});

test.skipIf(!bench)('a setup whose files are sent twice runs once', async () => {
  const { task } = bench!.tasks.start(next('set'), {
    kind: 'setup',
    command: 'echo ran',
    group: 'prj',
    timeoutMs: 60_000,
  });
  const slow = new PassThrough();
  const late = task.putSource(slow);
  await task.putSource(tarStream({}));
  const entries = await entriesOf(task);
  await bench!.tasks.remove(task.id);
  tarStream({}).pipe(slow);
  await late;
  expect([task.status, outputOf(entries)]).toEqual(['ended', 'ran\n']);
});

describe.skipIf(!bench)('a patch of a tree over a layer', () => {
  const files = {
    gone: 'g\n',
    'gen/at': 'source\n',
    'gen/deep/x': 'x\n',
    over: 'o\n',
    stays: 's\n',
    'empty/x': 'x\n',
  };
  const patch = {
    '.headrace-patch.json': JSON.stringify({ delete: ['gone', 'gen/at', 'gen/deep/x', 'over', 'empty/x'] }),
    above: 'a file\n',
    'below/new': 'new\n',
    'link/new': 'new\n',
    'gen/new': 'new\n',
  };
  const command =
    'mkdir -p gen above/x over/in empty target; echo layer > gen/at; echo layer > gen/deep; echo layer > over/in/file; echo y > above/x/y; echo b > below; ln -s target link; echo "layer" > over/only; ln gen/at hard';
  const look =
    'cat gen/at gen/deep over/in/file over/only above below/new link/new gen/new stays; ls -A . target empty';
  const expected =
    'layer\nlayer\nlayer\nlayer\na file\nnew\nnew\nnew\ns\n.:\nabove\nbelow\nempty\ngen\nhard\nlink\nover\nstays\ntarget\n\nempty:\n\ntarget:\n';

  test.skipIf(!canMount)(
    'shows the layer where the source has nothing any more, when it is restored',
    async () => {
      const key = await layer(bench!, command);
      const base = next('src');
      await open(bench!, files, { keep: { key: base, group: 'prj' }, isKept: true });
      const it = await open(bench!, patch, { base, layer: key });
      expect(await sh(bench!, it, look)).toBe(expected);
      expect(it.tree.over!.source.key).toBe(base);
      expect(await captureOf(it, [...Object.keys(patch).slice(1), 'stays'])).toEqual([
        'above',
        'below/new',
        'gen/new',
        'link/new',
      ]);
    },
  );

  test.each(WAYS)('shows it in a workspace at work, and in a preview (%s)', async (_, isKept) => {
    const key = await layer(bench!, command);
    const it = await open(bench!, files, { layer: key, isKept });
    await sh(bench!, it, 'chmod 0 gen/deep gen');
    await bench!.workspaces.trees.patch(it.tree, tarStream(patch));
    expect(await sh(bench!, it, look)).toBe(expected);
    const paths = [...Object.keys(patch).slice(1), 'stays'];
    expect(await captureOf(it, paths)).toEqual(
      isKept
        ? ['above', 'below/new', 'gen/new', 'link/new']
        : ['above', 'below/new', 'gen/new', 'link/new', 'stays'],
    );
    expect(
      await sh(bench!, await open(bench!, {}, { layer: key, isKept }), 'cat gen/at below; ls link'),
    ).toBe('layer\nb\n');
  });
});

/** The files that a capture hashes. */
async function captureOf(it: Workspace, basePaths: string[]): Promise<string[]> {
  const see = it.tree.over ? captureChanges : capture;
  const { files, strays, warnings } = await see(bench!.host, it, basePaths);
  expect([strays, warnings]).toEqual([[], []]);
  return files.map(({ path }) => path).sort();
}
