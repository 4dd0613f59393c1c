import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { tarFiles } from '../../../agent/src/tar.ts';
import type { CaptureResult } from '../protocol.ts';
import { tarOf } from '../tar.ts';
import { endOf, makeBench, tarStream, type Files } from '../runner.fixture.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { blobs, capture } from './capture.ts';

const bench = await makeBench();
let counter = 0;

/** A workspace with these files, after the command has run in it. */
async function worked(files: Files, command: string): Promise<Workspace> {
  const id = `thr_${++counter}`;
  await bench!.workspaces.put(id, tarStream(files));
  const entries = await bench!.run(`op_${counter}`, {
    kind: 'exec',
    workspaceId: id,
    command,
    timeoutMs: 30_000,
  });
  expect(endOf(entries)).toMatchObject({ outcome: 'completed', exitCode: 0 });
  return bench!.workspaces.get(id);
}

async function captured(files: Files, command: string): Promise<CaptureResult> {
  return capture(bench!.host, await worked(files, command), Object.keys(files));
}

const paths = (result: CaptureResult): string[] => result.files.map((file) => file.path).sort();
const warned = (result: CaptureResult): Record<string, string> =>
  Object.fromEntries(result.warnings.map((w) => [w.path, w.reason]));

describe.skipIf(!bench)('capture', () => {
  test('tells hash, size and mode of each file', async () => {
    const result = await captured(
      { 'a.txt': 'a\n', 'bin/run': { content: '#!/bin/sh\n', executable: true }, 'gone.txt': 'x' },
      'rm gone.txt; printf "\\000\\377" > "new ä.bin"; chmod -x bin/run',
    );
    expect(result.warnings).toEqual([]);
    expect(result.files.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      {
        path: 'a.txt',
        byteSize: 2,
        sha256: createHash('sha256').update('a\n').digest('hex'),
        executable: false,
      },
      {
        path: 'bin/run',
        byteSize: 10,
        sha256: createHash('sha256').update('#!/bin/sh\n').digest('hex'),
        executable: false,
      },
      {
        path: 'new ä.bin',
        byteSize: 2,
        sha256: createHash('sha256')
          .update(Buffer.from([0, 255]))
          .digest('hex'),
        executable: false,
      },
    ]);
  });

  test('an empty workspace has no files', async () => {
    expect(await captured({ a: 'a' }, 'rm a')).toEqual({ files: [], strays: [], warnings: [], secrets: [] });
  });

  test('leaves out ignored files in silence, but not those of the base', async () => {
    const result = await captured(
      { '.gitignore': '*.log\n/build/\n', 'old.log': 'o', 'build/kept': 'k' },
      'echo n > new.log; echo n > build/new; echo "!x.log" > .gitignore.bak; mkdir sub; echo "*.txt" > sub/.gitignore; touch sub/a.txt sub/b',
    );
    expect(paths(result)).toEqual([
      '.gitignore',
      '.gitignore.bak',
      'build/kept',
      'old.log',
      'sub/.gitignore',
      'sub/b',
    ]);
    expect(result.warnings).toEqual([]);
  });

  test('leaves out what is new in reserved and dependency folders, with one warning for a whole folder', async () => {
    const result = await captured(
      { 'node_modules/own/index.js': 'i' },
      'mkdir -p node_modules/dep a/.GIT .context deep/.venv pkg/__pycache__; touch node_modules/dep/x node_modules/dep/y node_modules/own/new a/.GIT/config .context/c .HOPLITE deep/.venv/v pkg/__pycache__/p pkg/m.py; mkdir sub; echo gitdir: /x > sub/.git',
    );
    expect(paths(result)).toEqual(['node_modules/own/index.js', 'pkg/m.py']);
    expect(warned(result)).toEqual({
      'node_modules/dep': 'new file in a dependency folder',
      'node_modules/own/new': 'new file in a dependency folder',
      'deep/.venv': 'new file in a dependency folder',
      'pkg/__pycache__': 'new file in a dependency folder',
      'a/.GIT': 'reserved name',
      '.context': 'reserved name',
      '.HOPLITE': 'reserved name',
      'sub/.git': 'reserved name',
    });
  });

  test('leaves out links, pipes and sockets, with a warning each', async () => {
    const result = await captured(
      { a: 'a', 'was-file': 'w' },
      "ln -s a link; ln -s / root; mkfifo pipe; rm was-file; ln -s /etc/passwd was-file; node -e \"require('net').createServer().listen('sock',()=>process.exit())\"; [ -e sock ] || mkfifo sock",
    );
    expect(paths(result)).toEqual(['a']);
    expect(warned(result)).toEqual({
      link: 'symlink',
      root: 'symlink',
      pipe: 'not a regular file',
      sock: 'not a regular file',
      'was-file': 'symlink',
    });
  });

  test('takes every name of a file, with the same contents and mode', async () => {
    const result = await captured(
      { a: 'a\n', '.gitignore': '*.log\n' },
      'mkdir -p x/y node_modules; ln a x/y/b; echo more >> x/y/b; chmod +x a; ln a a.log; echo l > l.log; ln l.log l.txt; echo m > node_modules/m; ln node_modules/m m',
    );
    const file = (path: string) => result.files.find((f) => f.path === path);
    expect(paths(result)).toEqual(['.gitignore', 'a', 'l.txt', 'm', 'x/y/b']);
    expect(file('a')).toMatchObject({ byteSize: 7, executable: true });
    expect(file('x/y/b')).toEqual({ ...file('a'), path: 'x/y/b' });
    expect(warned(result)).toEqual({ node_modules: 'new file in a dependency folder' });
  });

  test('no file outside of the workspace can be linked into it', async () => {
    const result = await captured(
      { a: 'a' },
      `echo t > /tmp/t; echo h > ~/h; mkdir -p node_modules
for file in /tmp/t ~/h /etc/passwd /usr/bin/env; do ln "$file" "in-$(basename "$file")" 2>/dev/null; done
exec 3< /tmp/t; python3 -c "import os; os.link('/proc/self/fd/3', 'in-fd', follow_symlinks=True)" 2>/dev/null; true`,
    );
    expect(paths(result)).toEqual(['a']);
  });

  test('names the files that cannot be named, unless they are no part of the source', async () => {
    const result = await captured(
      { '.gitignore': 'cache/\n?.tmp\n', 'f/\ufffd': 'of the base' },
      `touch "$(printf 'bad\\377')" "$(printf '\\377.tmp')" good; mkdir cache node_modules
touch "$(printf 'cache/\\377')" "$(printf 'node_modules/\\377')" "$(printf 'f/\\377')"; ln -s a "$(printf 'link\\377')"
python3 -c "import os
for i in range(17):
  os.mkdir('x' * 250); os.chdir('x' * 250)
open('f', 'w')"`,
    );
    expect(paths(result)).toEqual(['.gitignore', 'f/\ufffd', 'good']);
    expect(result.strays!.map(({ bytes, fault }) => [bytes, fault]).toSorted()).toEqual([
      ['bad\u00ff', 'must be UTF-8'],
      ['f/\u00ff', 'must be UTF-8'],
      [Array.from({ length: 15 }, () => 'x'.repeat(250)).join('/'), 'must be shorter'],
    ]);
    expect(result.strays!.map(({ path }) => path.at(-1)).toSorted()).toEqual(['f', '\ufffd', '\ufffd']);
    expect(warned(result)).toEqual({
      'link\ufffd': 'symlink',
      node_modules: 'new file in a dependency folder',
    });
  });

  test('is refused for patterns that take too long, which do not keep the thread of the runner', async () => {
    const workspace = await worked(
      {},
      `python3 -c "
open('.gitignore', 'w').write(('*' + 'a*' * 20 + 'b*\\n') * 55)
for i in range(2000): open('a' * 230 + str(i), 'w')"`,
    );
    const other = await worked({ '.gitignore': 'b\n' }, 'touch b c');
    const before = process.threadCpuUsage();
    const refused = expect(capture(bench!.host, workspace, [])).rejects.toMatchObject({
      status: 413,
      code: 'too_large',
    });
    expect(paths(await capture(bench!.host, other, []))).toEqual(['.gitignore', 'c']);
    await refused;
    expect(process.threadCpuUsage(before).user).toBeLessThan(400_000);
  });

  test('reads what its owner had closed', async () => {
    const result = await captured({ 'd/a': 'a', b: 'b' }, 'chmod 000 b d/a; chmod 000 d');
    expect(paths(result)).toEqual(['b', 'd/a']);
  });

  test('a hostile git configuration runs nothing', async () => {
    const result = await captured(
      { a: 'a' },
      'git init -q . && git config core.fsmonitor "touch /workspace/pwned #"',
    );
    expect(paths(result)).toEqual(['a']);
    expect(warned(result)).toEqual({ '.git': 'reserved name' });
  });

  test('evidence is passed over in silence', async () => {
    const workspace = await worked(
      { a: 'a' },
      'mkdir -p .hoplite/repair; echo {} > .hoplite/repair/report.json',
    );
    workspace.evidence = ['.hoplite/repair/conflicts.json'];
    expect(await capture(bench!.host, workspace, ['a'])).toMatchObject({ warnings: [] });
  });

  test('blobs gives the captured contents, and nothing else', async () => {
    const workspace = await worked(
      { a: 'a\n', 'run.sh': { content: 'x', executable: true } },
      'head -c 100000 /dev/zero > big',
    );
    expect(() => blobs(bench!.host, workspace, ['a'])).toThrow('a was not captured');
    await capture(bench!.host, workspace, ['a', 'run.sh']);
    const files = [...tarFiles(await buffer(blobs(bench!.host, workspace, ['run.sh', 'a', 'big'])))];
    expect(files.map((f) => [f.path, f.executable, f.content.length])).toEqual([
      ['run.sh', true, 1],
      ['a', false, 2],
      ['big', false, 100_000],
    ]);
    expect(() => blobs(bench!.host, workspace, ['../x'])).toThrow('was not captured');
  });

  test('small changes are given without a further sandbox, others with one', async () => {
    const workspace = await worked({ a: 'a\n', b: 'b\n' }, 'echo more >> a');
    const without = { ...bench!.host, driver: undefined } as never;
    await capture(bench!.host, workspace, ['a', 'b']);
    const files = [...tarFiles(await buffer(blobs(without, workspace, ['b', 'a'])))];
    expect(files.map((f) => `${f.path} ${f.content.toString()}`)).toEqual(['b b\n', 'a a\nmore\n']);
    const large = await worked({}, 'head -c 300000 /dev/zero > big');
    await capture(bench!.host, large, []);
    expect(() => blobs(without, large, ['big'])).toThrow();
  });

  test('10,001 files are all told', async () => {
    const result = await captured(
      {},
      'mkdir many; cd many; i=0; while [ $i -lt 10001 ]; do : > $i; i=$((i+1)); done',
    );
    expect(result.files.length).toBe(10_001);
  });
});

describe.skipIf(!bench)('a workspace', () => {
  test('takes pax archives, long and strange names', async () => {
    const archive = pack();
    const names = [
      `${'long/'.repeat(60)}ä`,
      'ä'.repeat(120),
      "it's $HOME `x`\n",
      '-rf',
      '--help',
      ' lead',
      '*',
    ];
    for (const name of names) archive.entry({ name, mode: 0o755 }, 'x');
    archive.finalize();
    await bench!.workspaces.put('thr_pax', Readable.from(archive));
    expect(paths(await capture(bench!.host, bench!.workspaces.get('thr_pax'), []))).toEqual(names.toSorted());
  });

  test.each(['../x', '/tmp/x', 'a/../../x'])('refuses %s or keeps it inside', async (name) => {
    await bench!.workspaces
      .put('thr_bad', tarStream({ [name]: 'x' }))
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'invalid_tar' }));
  });

  test('refuses an archive that breaks off', async () => {
    const broken = new PassThrough();
    broken.write(tarOf([{ path: 'a', content: 'x'.repeat(10_000) }]).subarray(0, 2000));
    const put = bench!.workspaces.put('thr_cut', broken);
    broken.destroy(new Error('gone'));
    await expect(put).rejects.toMatchObject({ code: 'invalid_tar' });
    expect(bench!.workspaces.has('thr_cut')).toBe(false);
  });

  test('is whole again after being replaced', async () => {
    const workspace = await worked({ a: 'a' }, 'touch b; chmod 000 .');
    await bench!.workspaces.put(workspace.id, tarStream({ c: 'c' }));
    expect(paths(await capture(bench!.host, workspace, []))).toEqual(['c']);
  });
});

describe.skipIf(!bench)('patch', () => {
  const patched = async (workspace: Workspace, remove: string[], files: Files): Promise<string[]> => {
    await bench!.workspaces.trees.patch(
      workspace.tree,
      tarStream({ '.headrace-patch.json': JSON.stringify({ delete: remove }), ...files }),
    );
    return paths(await capture(bench!.host, workspace, Object.keys(files)));
  };

  test('deletes, writes and removes folders that became empty', async () => {
    const workspace = await worked(
      { a: 'a', 'd/x': 'x' },
      'mkdir -p new/deep; touch new/deep/n; chmod 555 d; rm a',
    );
    expect(
      await patched(workspace, ['new/deep/n', 'missing/y'], {
        a: 'again',
        'd/x': { content: 'X', executable: true },
        'd/y': 'y',
      }),
    ).toEqual(['a', 'd/x', 'd/y']);
    expect(
      endOf(
        await bench!.run('op_look', {
          kind: 'exec',
          workspaceId: workspace.id,
          command: '[ ! -e new ] && [ -x d/x ] && [ "$(cat a d/x d/y)" = "againXy" ]',
          timeoutMs: 9000,
        }),
      ).exitCode,
    ).toBe(0);
  });

  test('removes what cannot be named, by its bytes', async () => {
    const workspace = await worked(
      { a: 'a' },
      `mkdir -p "$(printf 'd\\300/e')"; touch "$(printf 'd\\300/e/\\377')" "$(printf 'd\\300/e/n')" "$(printf 'top\\377')"; chmod 500 "$(printf 'd\\300/e')"`,
    );
    const { strays } = await capture(bench!.host, workspace, []);
    await bench!.workspaces.trees.patch(
      workspace.tree,
      tarStream({
        '.headrace-patch.json': JSON.stringify({ delete: [], deleteBytes: strays!.map((s) => s.bytes) }),
      }),
    );
    expect(await capture(bench!.host, workspace, [])).toMatchObject({ files: [{ path: 'a' }], strays: [] });
    const seen = await bench!.run('op_bytes', {
      kind: 'exec',
      workspaceId: workspace.id,
      command: '[ "$(ls -A)" = a ]',
      timeoutMs: 9000,
    });
    expect(endOf(seen).exitCode).toBe(0);
  });

  test('writes through no link', async () => {
    const workspace = await worked(
      { 'src/a': 'a' },
      'mkdir other; mv src/a other/a; rmdir src; ln -s other src; ln -s other/a b',
    );
    expect(await patched(workspace, [], { 'src/a': 'A', b: 'B' })).toEqual(['b', 'other/a', 'src/a']);
    const seen = await bench!.run('op_seen', {
      kind: 'exec',
      workspaceId: workspace.id,
      command: '[ "$(cat other/a src/a b)" = "aAB" ]',
      timeoutMs: 9000,
    });
    expect(endOf(seen).exitCode).toBe(0);
  });

  test('refuses a path that leaves the workspace', async () => {
    const workspace = await worked({}, 'true');
    await expect(patched(workspace, ['../x'], {})).rejects.toMatchObject({
      status: 400,
      code: 'invalid_tar',
    });
    await expect(patched(workspace, [], { '../../tmp/x': 'x' })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_tar',
    });
  });
});
