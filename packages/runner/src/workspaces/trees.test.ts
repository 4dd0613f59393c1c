import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { endOf, makeBench, outputOf, tarStream, type Files } from '../runner.fixture.ts';
import { unmountBelow } from '../sandbox/mounts.ts';
import { tarOf } from '../tar.ts';
import { unmountOverlay } from './overlay.ts';
import { Trees } from './trees.ts';

const bench = await makeBench();
const canOverlay = bench !== undefined && (await bench.workspaces.trees.probe());
if (!canOverlay) process.stderr.write('SKIPPED, trees cannot be mounted over one another here\n');
let counter = 0;

const FILES: Files = {
  a: 'a\n',
  b: 'b\n',
  'run.sh': { content: '#!/bin/sh\n', executable: true },
  'd/x': 'x\n',
  'd/deep/y': 'y\n',
  'e/z': 'z\n',
};

async function over(key: string): Promise<string> {
  const id = `thr_${++counter}`;
  await bench!.workspaces.put(id, undefined, { base: key });
  return id;
}

async function kept(key: string, files = FILES): Promise<string> {
  const id = `thr_${++counter}`;
  await bench!.workspaces.put(id, tarStream(files), { keep: { key, group: 'prj_1' } });
  return id;
}

async function run(workspaceId: string, command: string): Promise<string> {
  const entries = await bench!.run(`op_${++counter}`, {
    kind: 'exec',
    workspaceId,
    command,
    timeoutMs: 30_000,
  });
  expect({ ...endOf(entries), stderr: outputOf(entries, 'stderr') }).toMatchObject({
    outcome: 'completed',
    exitCode: 0,
  });
  return outputOf(entries, 'stdout');
}

const LIST = `find . -mindepth 1 -printf '%y %m %s %p\\n' | sort; find . -type f -exec sha256sum '{}' + | sort`;
const MMAP = `python3 -c "import mmap; f = open('b', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = b'B'; m.flush()" || printf B | dd of=b conv=notrunc`;

describe.skipIf(!canOverlay)('a workspace over a kept source', () => {
  test('is exactly that source, with its modes', async () => {
    const first = await run(await kept('src_exact'), LIST);
    expect(first).toContain('f 755 10 ./run.sh');
    expect(first).toContain('f 644 2 ./d/deep/y');
    expect(await run(await over('src_exact'), LIST)).toBe(first);
  });

  test('nothing that is done in one reaches the source or another', async () => {
    const other = await kept('src_shared');
    const before = await run(other, LIST);
    for (const command of [
      'echo more >> a',
      ': > a',
      'truncate -s 0 d/x',
      'chmod 000 a',
      'chmod 700 d; chmod 777 .',
      'mv a d/moved; mv d f; mv f/deep top',
      'rm -r d; mkdir d; touch d/new',
      'rm a b; ln -s /etc a; ln e/z b',
      'ln a hard; echo x >> hard',
      MMAP,
      "touch -d 2001-01-01 a; python3 -c \"import os; os.setxattr('a', 'user.x', b'y')\" || true",
      'mv -T d e2; mv -T e d',
      'rm -rf ./* .[!.]*; ls -A | wc -l',
      'exec 3< a; echo new > a; cat <&3',
      'fallocate -l 100 b || true; cp --reflink=never a b',
      'python3 -c "import os; os.chown(\'a\', 1000, 1000)"; chgrp 1000 a',
    ])
      await run(await over('src_shared'), command);
    expect(await run(other, LIST)).toBe(before);
    expect(await run(await over('src_shared'), LIST)).toBe(before);
  });

  test("the kernel's notes cannot be forged", async () => {
    const id = await kept('src_forge');
    const forge = `python3 - <<'END'
import os
for name in ('trusted.overlay.opaque', 'trusted.overlay.redirect', 'user.overlay.opaque'):
    os.makedirs('p', exist_ok=True)
    try: os.setxattr('p', name, b'/d'); print(name)
    except OSError: pass
try: os.mknod('p/w', 0o020000, os.makedev(0, 0)); print('whiteout')
except OSError: pass
END
ls p`;
    expect((await run(id, forge)).trim()).toMatch(/^(user\.overlay\.opaque)?$/);
  });

  test('a patch lies over it', async () => {
    await kept('src_patched');
    const id = `thr_${++counter}`;
    await bench!.workspaces.put(
      id,
      tarStream({
        '.headrace-patch.json': JSON.stringify({ delete: ['d/deep/y', 'a'] }),
        b: 'B',
        'new/n': 'n',
      }),
      { base: 'src_patched' },
    );
    expect(await run(id, 'find . -type f | sort; cat b')).toBe('./b\n./d/x\n./e/z\n./new/n\n./run.sh\nB');
    expect(await run(await over('src_patched'), 'cat a b d/deep/y')).toBe('a\nb\ny\n');
  });

  test('a patch makes files of folders and folders of files, and leaves no empty folder', async () => {
    await kept('src_turned', { ...FILES, 'n/o/p': 'p' });
    const id = `thr_${++counter}`;
    await bench!.workspaces.put(
      id,
      tarStream({
        '.headrace-patch.json': JSON.stringify({ delete: ['d/x', 'd/deep/y', 'a', 'n/o/p', 'e/z'] }),
        d: 'now a file',
        'a/b': { content: 'x', executable: true },
        [`${'long/'.repeat(40)}-name`]: 'l',
      }),
      { base: 'src_turned' },
    );
    expect(
      (
        await run(
          id,
          'find . -mindepth 1 -not -path "./long*" -printf "%y %m %p\\n" | sort; find long* -type f | wc -l',
        )
      ).trim(),
    ).toBe('d 755 ./a\nf 644 ./b\nf 644 ./d\nf 755 ./a/b\nf 755 ./run.sh\n1');
  });

  test('a patch that names nothing to delete is none, and one that breaks off leaves no workspace', async () => {
    await kept('src_cut');
    const put = (tar: Readable) => bench!.workspaces.put('thr_cut_patch', tar, { base: 'src_cut' });
    await expect(put(tarStream({ b: 'B' }))).rejects.toMatchObject({ status: 400, code: 'invalid_tar' });
    const whole = tarOf([
      { path: '.headrace-patch.json', content: '{"delete":["a"]}' },
      { path: 'b', content: 'x'.repeat(10_000) },
    ]);
    await expect(put(Readable.from([whole.subarray(0, 3000)], { objectMode: false }))).rejects.toMatchObject({
      status: 400,
      code: 'invalid_tar',
    });
    expect(bench!.workspaces.has('thr_cut_patch')).toBe(false);
  });

  test('what is not kept is said', async () => {
    await expect(over('src_unknown')).rejects.toMatchObject({ status: 404, code: 'not_cached' });
    await kept('src_known');
    expect(bench!.workspaces.trees.kept('prj_1')).toContain('src_known');
    expect(bench!.workspaces.trees.kept('prj_2')).toEqual([]);
  });

  test('an archive with pipes is not kept', async () => {
    const { pack } = await import('tar-stream');
    const tar = pack();
    tar.entry({ name: 'p', type: 'fifo' });
    tar.finalize();
    await expect(
      bench!.workspaces.put('thr_pipe', Readable.from(tar), { keep: { key: 'src_pipe', group: 'prj_1' } }),
    ).rejects.toMatchObject({ code: 'invalid_tar' });
    expect(bench!.workspaces.trees.kept('prj_1')).not.toContain('src_pipe');
  });

  test('beyond the limits those go that were unused for longest, never one in use', async () => {
    const trees = new Trees(bench!.host, { trees: 2, files: 100, bytes: 1e9 });
    const make = (key: string) => trees.make(key, tarStream(FILES), { keep: { key, group: 'g' } });
    const [one, two] = [await make('s1'), await make('s2')];
    const three = await make('s3');
    expect(trees.kept('g')).toEqual(['s3', 's2', 's1']);
    trees.remove(two);
    await expect.poll(() => trees.kept('g')).toEqual(['s3', 's1']);
    trees.remove(one);
    await expect.poll(() => mounts().filter((point) => point.includes(one.over!.overlay.folder))).toEqual([]);
    trees.remove(await trees.make('again', undefined, { base: 's1' }));
    expect(trees.kept('g')).toEqual(['s1', 's3']);
    trees.remove(three);
    await expect
      .poll(() => mounts().filter((point) => point.includes(three.over!.overlay.folder)))
      .toEqual([]);
    await make('s4');
    expect(trees.kept('g')).toEqual(['s4', 's1']);
  });

  test('two that make the same source keep it once', async () => {
    const ids = await Promise.all([kept('src_twice'), kept('src_twice')]);
    const [one, two] = ids.map((id) => bench!.workspaces.get(id).tree.over!.source);
    expect(one).toBe(two);
    expect(one!.users).toBe(2);
  });

  test('that was left without its mount is mounted again when it is used, or goes as it is', async () => {
    const trees = new Trees(bench!.host);
    const make = () => trees.make('left', tarStream(FILES), { keep: { key: 'src_left', group: 'g' } });
    const [tree, other] = [await make(), await make()];
    for (const { over } of [tree, other]) {
      writeFileSync(join(over!.overlay.merged, 'new'), 'n');
      await unmountOverlay(over!.overlay);
      rmdirSync(over!.overlay.merged);
    }
    const { host } = tree.bind({ readOnly: false });
    expect([readFileSync(join(host, 'new'), 'utf8'), readFileSync(join(host, 'a'), 'utf8')]).toEqual([
      'n',
      'a\n',
    ]);
    other.over!.lowers = ['/none'];
    expect(() => other.bind({ readOnly: false })).toThrow('mounted again');
    expect(existsSync(other.over!.overlay.merged)).toBe(false);
    for (const one of [tree, other]) trees.remove(one);
    await expect
      .poll(() => [tree.over!.source.users, existsSync(`${other.over!.overlay.folder}.gone`)])
      .toEqual([0, false]);
  });

  test('a path that reads as a full file system makes no room', async () => {
    const trees = new Trees(bench!.host, { trees: 9, files: 100, bytes: 1e9 });
    const put = (key: string, files: Files) =>
      trees.make(key, tarStream(files), { keep: { key, group: 'g' } });
    trees.remove(await put('odd1', { a: 'a' }));
    for (const path of ['ENOSPC', 'no space left on device', 'Wrote only 1 of 2 bytes'])
      await expect(put('odd2', { [path]: 'a file', [`${path}/x`]: 'x' })).rejects.toMatchObject({
        status: 400,
        code: 'invalid_tar',
        message: expect.stringContaining(`${path}/x: Cannot open`) as string,
      });
    expect(trees.kept('g')).toEqual(['odd1']);
  });

  test('on a full file system what is kept and not in use makes room', async ({ skip }) => {
    const base = join(bench!.host.base, 'w', 'tiny');
    mkdirSync(base, { mode: 0o711 });
    if (spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=711', 'tiny', base]).status !== 0) skip();
    try {
      mkdirSync(join(base, 'w'), { mode: 0o711 });
      const trees = new Trees({ ...bench!.host, base }, { trees: 9, files: 100, bytes: 1e9 });
      const make = (key: string) =>
        trees.make(key, tarStream({ big: 'x'.repeat(3_000_000) }), { keep: { key, group: 'g' } });
      const first = await make('s1');
      trees.remove(await make('s2'));
      await expect
        .poll(() => readdirSync(join(base, 'w')).filter((name) => name.endsWith('.gone')))
        .toEqual([]);
      await expect(make('s3')).rejects.toMatchObject({ status: 503, code: 'no_space' });
      expect(trees.kept('g')).toEqual(['s1']);
      await expect
        .poll(() =>
          make('s3').then(
            () => trees.kept('g'),
            () => [],
          ),
        )
        .toEqual(['s3', 's1']);
      expect(first.over!.source.users).toBe(1);
    } finally {
      spawnSync('/bin/umount', [
        '-l',
        ...mounts()
          .filter((point) => point.startsWith(base))
          .toReversed(),
      ]);
    }
  });

  test('nothing is deleted through a mount', async () => {
    const trees = new Trees(bench!.host);
    const tree = await trees.make('held', tarStream(FILES), { keep: { key: 'src_held', group: 'g' } });
    expect(unmountBelow(tree.over!.overlay.folder)).toBe(true);
    expect(mounts().filter((point) => point.startsWith(tree.over!.overlay.folder))).toEqual([]);
  });
});

const mounts = (): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');
