import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CapturedFile, CaptureResult } from '../protocol.ts';
import { endOf, makeBench, tarStream, type Files } from '../runner.fixture.ts';
import { layer } from '../layers/layers.fixture.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { blobs, capture, captureChanges } from './capture.ts';
import { END_LISTING } from '../workspaces/listing.ts';

const bench = await makeBench();
const canOverlay = bench !== undefined && (await bench.workspaces.trees.probe());
if (!canOverlay) process.stderr.write('SKIPPED, trees cannot be mounted over one another here\n');
let counter = 0;

const PLAIN: Files = {
  a: 'a\n',
  b: 'b\n',
  c: { content: 'c\n', executable: true },
  'd/a': 'a\n',
  'd/b': 'd/b\n',
  'd/d/a': 'd/d/a\n',
  'd/d/c': { content: 'x', executable: true },
  'd/e/b': 'd/e/b\n',
  'e/a': 'e/a\n',
  'e/d/d/b': 'deep\n',
  'e/d/c': 'e/d/c\n',
  'f/ä': 'ä',
  'f/\ufffd/a': 'r',
};
const BASES: Record<string, Files> = {
  src_plain: PLAIN,
  src_ignoring: {
    ...PLAIN,
    '.gitignore': '*.log\n/e/\nnew\n',
    'd/.gitignore': '!new\nb\n',
    'd/old.log': 'o',
  },
  src_depending: { ...PLAIN, 'node_modules/own/index.js': 'i', 'd/node_modules/a': 'a', '.venv': 'v' },
};

/** Makes a layer at, above and below the paths of the sources. */
const SETUP = `mkdir -p d/d/f e/f/d f/a node_modules/x new/d .venv; echo l > a; echo l > d/new; echo b > d/d/b; echo l > e/f/d/a
echo l > e/f/b; echo l > f/a/b; echo l > node_modules/x/i; echo l > new/d/x.log; echo l > .venv/l; ln -s ../d new/e; ln d/new new/hard
echo '*.log' > new/.gitignore; printf '#!/bin/sh' > new/c; chmod +x new/c; touch "$(printf 'new/\\377')"`;

async function over(key: string, ofSetup?: string): Promise<Workspace> {
  const id = `thr_${++counter}`;
  await bench!.workspaces
    .put(id, undefined, { base: key, layer: ofSetup })
    .catch(() =>
      bench!.workspaces.put(id, tarStream(BASES[key]!), { keep: { key, group: 'prj' }, layer: ofSetup }),
    );
  return bench!.workspaces.get(id);
}

async function work(workspace: Workspace, script: string): Promise<void> {
  expect(
    endOf(
      await bench!.run(`op_${++counter}`, {
        kind: 'exec',
        workspaceId: workspace.id,
        command: script,
        timeoutMs: 30_000,
      }),
    ),
  ).toMatchObject({ outcome: 'completed', exitCode: 0 });
}

/** The whole source, from a capture relative to a source tree that the worker knows. */
function whole({ files, over: beside }: CaptureResult, base: Files): CapturedFile[] {
  const known = new Map(
    Object.entries(base).map(([path, file]): [string, CapturedFile] => {
      const { content, executable = false } = typeof file === 'string' ? { content: file } : file;
      return [
        path,
        {
          path,
          byteSize: Buffer.byteLength(content),
          sha256: createHash('sha256').update(content).digest('hex'),
          executable,
        },
      ];
    }),
  );
  const result = new Map(known);
  for (const path of beside!.missing) result.delete(path);
  for (const { path, from } of beside!.moved) result.set(path, { ...known.get(from)!, path });
  for (const file of files) result.set(file.path, file);
  return [...result.values()];
}

const sorted = <T extends { path: string }>(entries: T[]): T[] =>
  entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));

/** Captures in both ways, which must agree. Returns what the quick way had to hash. */
async function compared(
  workspace: Workspace,
  key: string,
  basePaths = Object.keys(BASES[key]!),
): Promise<CaptureResult> {
  const changes = await captureChanges(bench!.host, workspace, basePaths);
  const full = await capture(bench!.host, workspace, basePaths);
  expect(sorted(whole(changes, BASES[key]!))).toEqual(sorted(full.files));
  expect(sorted(changes.warnings)).toEqual(sorted(full.warnings));
  expect(sorted(changes.strays!)).toEqual(sorted(full.strays!));
  return changes;
}

test('a listing that was broken off is no whole one', () => {
  const end = (how: string): string =>
    spawnSync('/bin/sh', ['-c', `(printf 'f x\\0'; ${how}); ${END_LISTING}`], { encoding: 'latin1' }).stdout;
  expect(
    ['exit 0', 'exit 1', "kill -9 $(exec sh -c 'echo $PPID')", 'ulimit -v 1; exec /none/such'].map(end),
  ).toEqual(['f x\0\0', 'f x\0\0', 'f x\0', 'f x\0']);
});

describe.skipIf(!canOverlay)('a capture beside a source tree', () => {
  test('of an untouched workspace hashes nothing', async () => {
    expect(await compared(await over('src_plain'), 'src_plain')).toEqual({
      files: [],
      strays: [],
      secrets: [],
      warnings: [],
      over: { moved: [], missing: [] },
    });
  });

  test('hashes what was written, and knows what was moved', async () => {
    const workspace = await over('src_plain');
    await work(workspace, 'echo more >> a; mv d f2; echo new > e/n; chmod +x b');
    const { files, over: beside } = await compared(workspace, 'src_plain');
    expect(files.map(({ path }) => path).sort()).toEqual(['a', 'b', 'e/n']);
    expect(sorted(beside!.moved).map(({ path, from }) => `${from} > ${path}`)).toEqual([
      'd/a > f2/a',
      'd/b > f2/b',
      'd/d/a > f2/d/a',
      'd/d/c > f2/d/c',
      'd/e/b > f2/e/b',
    ]);
  });

  test.each([
    [
      'a write that keeps size and times',
      'touch -r a /tmp/t; printf X | dd of=a conv=notrunc 2>/dev/null; touch -r /tmp/t a',
    ],
    [
      'a write through a mapping',
      `python3 -c "import mmap; f = open('a', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = b'X'; m.close()"`,
    ],
    ['a new folder at the place of an old one', 'rm -r d; mkdir d; echo X > d/a'],
    ['a file of the same contents at its old place', 'rm a; printf "a\\n" > a'],
    ['folders that changed places', 'mv d t; mv e d; mv t e; mv e/d/a e/d/z'],
    ['folders in one another', 'mv d e/d/d/; mv e/d top; mkdir e/d; mv top/d e/d/'],
    ['a second name', 'ln a second; ln b d/b2; rm b'],
    [
      'second names in other folders, one of them written to',
      'mkdir -p x/y; ln a x/y/b; ln x/y/b d/d/z; echo more >> d/d/z; ln c e/c; chmod -x e/c',
    ],
    ['a second name that was replaced', 'ln a second; rm a; echo other > a'],
    ['a second name in a folder that was moved', 'mv d f2; ln f2/a top; ln f2/d/a f2/d/z; mv f2 d'],
    [
      'a name that is not UTF-8 beside one that looks like it',
      'mkdir "$(printf "f/\\377")"; touch "$(printf "f/\\377/a")"',
    ],
    ['what its owner has closed', 'chmod 000 d/d a; chmod 000 d; chmod 000 e/d; chmod 000 .'],
    ['another .gitignore', 'echo "d/" > .gitignore; echo n > d/n; echo n > e/n'],
    [
      'paths that are too long to be opened',
      `python3 -c "import os
for i in range(30):
  os.mkdir('x' * 250); os.chdir('x' * 250)
  for name in ('f', '.gitignore'): open(name, 'w').write(name)
os.chmod('.', 0)"; echo n > n`,
    ],
    ['all gone', 'rm -rf ./* .[!.]*'],
  ])('sees %s', async (_, script) => {
    const workspace = await over('src_plain');
    await work(workspace, script);
    await compared(workspace, 'src_plain');
  });

  test('of files with holes, larger than any source, is refused at once, and of .gitignore files that would take much memory', async () => {
    const workspace = await over('src_plain');
    for (const script of [
      'truncate -s 1G hole1; truncate -s 1M hole2',
      'rm hole1 hole2; for i in 1 2 3 4 5; do mkdir $i; yes | head -c 256K > $i/.gitignore; done',
    ]) {
      await work(workspace, script);
      for (const one of [captureChanges, capture])
        await expect(one(bench!.host, workspace, [])).rejects.toMatchObject({
          status: 413,
          code: 'too_large',
        });
    }
  });

  test('gives contents of all files, read or not', async () => {
    const workspace = await over('src_plain');
    await work(workspace, 'echo more >> a; mv d f2; rm b');
    await compared(workspace, 'src_plain');
    workspace.captured = null;
    await captureChanges(bench!.host, workspace, Object.keys(PLAIN));
    const tar = ((await blobs(bench!.host, workspace, ['a', 'f2/b', 'c']).toArray()) as Buffer[])
      .map(String)
      .join('');
    for (const content of ['a\nmore\n', 'd/b\n', 'c\n']) expect(tar).toContain(content);
    for (const path of ['b', 'd/b'])
      expect(() => blobs(bench!.host, workspace, [path])).toThrow('was not captured');
  });

  test('says the same as a full one, whatever was done', async () => {
    const runs = Number(process.env['CAPTURE_RUNS'] ?? 8);
    const setup = await layer(bench!, SETUP);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(BASES)),
        fc.constantFrom(undefined, setup),
        fc.array(script, { minLength: 1, maxLength: 3 }),
        fc.array(path, { maxLength: 3 }),
        fc.array(path, { maxLength: 3 }),
        async (key, ofSetup, scripts, added, removed) => {
          const workspace = await over(key, ofSetup);
          for (const one of scripts) {
            await work(workspace, `${one}\ntrue`);
            await compared(workspace, key);
          }
          await compared(
            workspace,
            key,
            [...new Set([...Object.keys(BASES[key]!), ...added])].filter((p) => !removed.includes(p)),
          );
          bench!.workspaces.remove(workspace.id);
        },
      ),
      { numRuns: runs },
    );
  }, 280_000);
});

const name = fc.constantFrom(
  'a',
  'b',
  'c',
  'd',
  'd',
  'e',
  'e',
  'f',
  'ä',
  'new',
  'x.log',
  '.gitignore',
  'node_modules',
  '.venv',
  '.git',
  '\ufffd',
);
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const folder = fc.constantFrom('d', 'e', 'f', 'd/d', 'd/e', 'e/d', 'e/d/d', 'node_modules', 'new');
const quoted = (text: string): string => `'./${text}'`;
const either = fc.oneof(path, folder).map(quoted);
const file = path.map(quoted);

/** Quiet commands that may fail. */
const command = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(file, fc.constantFrom('echo r >', 'echo r >>', ':>'))
      .map(([f, how]) => `mkdir -p "$(dirname ${f})"; ${how} ${f}`),
  },
  { weight: 5, arbitrary: fc.tuple(either, either).map(([from, to]) => `mv ${from} ${to}`) },
  { weight: 2, arbitrary: fc.tuple(either, either).map(([from, to]) => `mv -T ${from} ${to}`) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(either, either)
      .map(([one, two]) => `mv -T ${one} ./t; mv -T ${two} ${one}; mv -T ./t ${two}`),
  },
  { weight: 2, arbitrary: either.map((p) => `rm -rf ${p}`) },
  { weight: 2, arbitrary: either.map((p) => `rm -rf ${p}; mkdir -p ${p}; echo r > ${p}/a`) },
  { weight: 1, arbitrary: file.map((f) => `cp -a ${f} /tmp/c && rm ${f} && cp -a /tmp/c ${f}`) },
  { weight: 1, arbitrary: fc.tuple(either, either).map(([from, to]) => `cp -a ${from} ${to}`) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(either, fc.constantFrom('+x', '-x', '000', '700', 'a-w', '755'))
      .map(([p, mode]) => `chmod ${mode} ${p}`),
  },
  { weight: 1, arbitrary: fc.tuple(file, file).map(([from, to]) => `ln ${from} ${to}`) },
  { weight: 1, arbitrary: fc.tuple(either, either).map(([from, to]) => `ln -s ${from} ${to}`) },
  { weight: 1, arbitrary: file.map((f) => `mkfifo ${f}`) },
  {
    weight: 1,
    arbitrary: file.map(
      (f) => `touch -r ${f} /tmp/t && printf X | dd of=${f} conv=notrunc && touch -r /tmp/t ${f}`,
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(folder, fc.constantFrom('*', 'a', 'new', '!b', '/d/', 'e', '*.log'))
      .map(([at, rule]) => `echo '${rule}' >> ${quoted(at)}/.gitignore`),
  },
  { weight: 1, arbitrary: folder.map((at) => `touch "$(printf '${at}/\\377')"`) },
);
const script = fc
  .array(command, { minLength: 1, maxLength: 6 })
  .map((commands) => `exec 2>/dev/null\n${commands.map((one) => `(${one})`).join('\n')}`);
