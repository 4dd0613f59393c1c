import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DraftTree } from './draft-tree.ts';
import { applyEnvelope } from './envelope.ts';
import { applyUnifiedDiff, parseUnifiedDiff } from './unified-diff.ts';

const scratch = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'hr-test-'));
afterAll(() => rmSync(scratch, { recursive: true }));

function tree(files: Record<string, string | Buffer>): string {
  const root = mkdtempSync(join(scratch, 't'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

/** { path: content }, with a * after the path of an executable file. */
function read(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name))
    .sort();
  return Object.fromEntries(
    files.map((file) => [
      file.slice(root.length + 1) + ((lstatSync(file).mode & 0o100) === 0 ? '' : '*'),
      readFileSync(file, 'latin1'),
    ]),
  );
}

function patched(files: Record<string, string | Buffer>, patch: string): Record<string, string> {
  const root = tree(files);
  const draft = new DraftTree(root);
  const bytes = Buffer.from(patch).toString('latin1');
  if (patch.startsWith('***')) applyEnvelope(draft, bytes);
  else applyUnifiedDiff(draft, parseUnifiedDiff(bytes));
  draft.commit();
  return read(root);
}

describe('a unified diff', () => {
  test.each<[string, Record<string, string>, string, Record<string, string>]>([
    [
      'changes, makes and deletes',
      { 'a.txt': '1\n2\n3\n', gone: 'bye\n' },
      '--- a/a.txt\n+++ b/a.txt\n@@ -2,2 +2,2 @@\n 2\n-3\n+three\n--- /dev/null\n+++ b/sub/made\n@@ -0,0 +1 @@\n+new\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n',
      { 'a.txt': '1\n2\nthree\n', 'sub/made': 'new\n' },
    ],
    [
      'finds its lines elsewhere',
      { a: 'x\ny\n1\n2\n3\n' },
      '--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n',
      { a: 'x\ny\n1\ntwo\n3\n' },
    ],
    [
      'takes several hunks with moved lines',
      { a: '1\n2\n3\n4\n5\n6\n7\n8\n' },
      '--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n 1\n+1b\n 2\n@@ -7,2 +8,2 @@\n 7\n-8\n+eight\n',
      { a: '1\n1b\n2\n3\n4\n5\n6\n7\neight\n' },
    ],
    [
      'minds the missing end of a last line',
      { a: 'x', b: 'x\n' },
      '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n',
      { a: 'y\n', b: 'y' },
    ],
    [
      'has names without prefix, with times and quotes',
      { 'a b': '1\n', ä: '1\n' },
      '--- a b\t2020-01-01\n+++ a b\t2020-01-02\n@@ -1 +1 @@\n-1\n+2\n--- "a/\\303\\244"\n+++ "b/\\303\\244"\n@@ -1 +1 @@\n-1\n+2\n',
      { 'a b': '2\n', ä: '2\n' },
    ],
    [
      'renames, with and without a change',
      { old: '1\n', x: 'x\n' },
      'diff --git a/old b/new\nsimilarity index 50%\nrename from old\nrename to new\nindex 1..2 100644\n--- a/old\n+++ b/new\n@@ -1 +1 @@\n-1\n+2\ndiff --git a/x b/dir/y\nsimilarity index 100%\nrename from x\nrename to dir/y\n',
      { new: '2\n', 'dir/y': 'x\n' },
    ],
    [
      'changes modes and makes empty files',
      { run: '#!\n' },
      'diff --git a/run b/run\nold mode 100644\nnew mode 100755\ndiff --git a/e b/e\nnew file mode 100755\nindex 0000000..e69de29\ndiff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+f\n',
      { 'run*': '#!\n', 'e*': '', f: 'f\n' },
    ],
    [
      'deletes an empty file',
      { e: '' },
      'diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0000000\n',
      {},
    ],
    [
      'copies',
      { a: '1\n' },
      'diff --git a/a b/b\nsimilarity index 100%\ncopy from a\ncopy to b\n',
      { a: '1\n', b: '1\n' },
    ],
    [
      'may lose the space of empty context lines',
      { a: '1\n\n2\n' },
      '--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n\n-2\n+two\n',
      { a: '1\n\ntwo\n' },
    ],
    [
      'touches one file twice',
      { a: '1\n' },
      '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-2\n+3\n',
      { a: '3\n' },
    ],
    ['inserts at the start', { a: '1\n' }, '--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+0\n', { a: '0\n1\n' }],
    [
      'a removed line may look like a header',
      { a: '-- x\n' },
      '--- a/a\n+++ b/a\n@@ -1 +1 @@\n--- x\n+++ y\n',
      { a: '++ y\n' },
    ],
  ])('%s', (_, files, patch, expected) => {
    expect(patched(files, patch)).toEqual(expected);
  });

  test.each([
    ['wrong lines', '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-other\n+x\n'],
    ['a missing file', '--- a/none\n+++ b/none\n@@ -1 +1 @@\n-1\n+x\n'],
    ['a file that is there', '--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n'],
    ['a deletion that leaves content', '--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n'],
    ['too few lines', '--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+x\n'],
    ['no change at all', 'hello\n'],
    ['a path to the outside', '--- a/../a\n+++ b/../a\n@@ -0,0 +1 @@\n+x\n'],
    [
      'a symlink',
      'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n',
    ],
    ['a binary patch', 'diff --git a/a b/a\nindex 1..2 100644\nGIT binary patch\nliteral 1\n'],
    [
      'a second file that does not fit',
      '--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+x\n 2\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-1\n+x\n',
    ],
  ])('%s changes nothing', (_, patch) => {
    const root = tree({ a: '1\n2\n' });
    const draft = new DraftTree(root);
    expect(() => {
      applyUnifiedDiff(draft, parseUnifiedDiff(patch));
      draft.commit();
    }).toThrow();
    expect(read(root)).toEqual({ a: '1\n2\n' });
  });

  test('keeps bytes that are no UTF-8', () => {
    expect(
      patched({ a: Buffer.from([0xff, 10, 0x31, 10]) }, '--- a/a\n+++ b/a\n@@ -2 +2 @@\n-1\n+ä\n'),
    ).toEqual({ a: '\xff\n\xc3\xa4\n' });
  });

  test('agrees with git on what git makes', () => {
    const before = {
      a: Array.from({ length: 60 }, (_, i) => `line ${i}\n`).join(''),
      b: 'x\ny\nz',
      'c d': 'q\n',
    };
    const root = tree(before);
    const git = (...args: string[]): string =>
      spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
        cwd: root,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: root },
      }).stdout;
    git('init', '-q', '.');
    git('add', '-A');
    git('commit', '-qm', 'x');
    writeFileSync(
      join(root, 'a'),
      before.a.replace('line 3\n', '').replace('line 30\n', 'thirty\nand more\n').replace('line 59\n', 'end'),
    );
    writeFileSync(join(root, 'b'), 'x\nz\n');
    rmSync(join(root, 'c d'));
    mkdirSync(join(root, 'e'));
    writeFileSync(join(root, 'e/ü.txt'), 'q\nr\n', { mode: 0o755 });
    git('add', '-A');
    const diff = git('diff', '--cached', '-M', 'HEAD');
    rmSync(join(root, '.git'), { recursive: true });
    expect(patched(before, diff)).toEqual(read(root));
  });
});

describe('an envelope', () => {
  const wrap = (body: string): string => `*** Begin Patch\n${body}*** End Patch\n`;
  test.each<[string, Record<string, string>, string, Record<string, string>]>([
    [
      'adds, updates and deletes',
      { 'a.txt': 'one\ntwo\nthree\n', gone: 'x\n' },
      '*** Add File: sub/made.txt\n+new\n+file\n*** Update File: a.txt\n@@\n one\n-two\n+2\n three\n*** Delete File: gone\n',
      { 'a.txt': 'one\n2\nthree\n', 'sub/made.txt': 'new\nfile\n' },
    ],
    ['moves', { a: '1\n2\n' }, '*** Update File: a\n*** Move to: d/b\n@@\n-1\n+one\n', { 'd/b': 'one\n2\n' }],
    [
      'finds the place below an anchor',
      { a: 'f()\n x\ng()\n x\n' },
      '*** Update File: a\n@@ g()\n- x\n+ y\n',
      { a: 'f()\n x\ng()\n y\n' },
    ],
    [
      'finds the place at the end',
      { a: 'x\ny\nx\n' },
      '*** Update File: a\n@@\n-x\n+z\n*** End of File\n',
      { a: 'x\ny\nz\n' },
    ],
    ['needs no @@ for the first chunk', { a: 'x\n' }, '*** Update File: a\n-x\n+y\n', { a: 'y\n' }],
    [
      'takes several chunks',
      { a: '1\n2\n3\n4\n' },
      '*** Update File: a\n@@\n-1\n+one\n@@\n-4\n+four\n',
      { a: 'one\n2\n3\nfour\n' },
    ],
    ['adds an empty file', {}, '*** Add File: e\n', { e: '' }],
    ['keeps a missing last line end', { a: 'x\ny' }, '*** Update File: a\n@@\n-x\n+z\n', { a: 'z\ny' }],
  ])('%s', (_, files, body, expected) => {
    expect(patched(files, wrap(body))).toEqual(expected);
  });

  test.each([
    '*** Update File: a\n@@\n-none\n+x\n',
    '*** Update File: none\n@@\n-x\n+y\n',
    '*** Add File: a\n+x\n',
    '*** Delete File: none\n',
    '*** Add File: ../x\n+x\n',
    'nonsense\n',
    '',
  ])('refuses %j', (body) => {
    expect(() => patched({ a: '1\n' }, wrap(body))).toThrow();
  });
});

describe('paths', () => {
  test.each(['../x', '/etc/x', 'a/../../x', '', '.', 'd/', 'out/x', 'far', 'dangling'])(
    '%j is refused',
    (path) => {
      const root = tree({ 'd/a': 'a' });
      symlinkSync('/etc', join(root, 'out'));
      symlinkSync('/etc/hostname', join(root, 'far'));
      symlinkSync('none', join(root, 'dangling'));
      expect(() => new DraftTree(root).write(path, { content: 'x', executable: false })).toThrow(
        path === '' ? 'not a path' : path,
      );
    },
  );

  test('a link inside the workspace is followed', () => {
    const root = tree({ 'd/a': 'a' });
    symlinkSync('d', join(root, 'link'));
    const draft = new DraftTree(root);
    draft.write('link/b', { content: 'b', executable: false });
    draft.commit();
    expect(read(root)).toMatchObject({ 'd/a': 'a', 'd/b': 'b' });
  });
});
