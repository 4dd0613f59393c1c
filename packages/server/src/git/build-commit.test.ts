import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBareRepository } from './bare-repository.ts';
import { buildGitCommit } from './build-commit.ts';
import type { GitChange, NewCommit } from './build-commit.ts';
import { runGit } from './run-git.ts';

let folder: string, dir: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-build-commit-'));
  dir = join(folder, 'r.git');
  await createBareRepository(dir, { defaultBranch: 'main' });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const git = async (...args: string[]) => (await runGit(dir, args)).output.toString('utf8').trim();

async function* contentsOf(texts: string[]) {
  for (const text of texts) yield { key: text, bytes: Buffer.from(text) };
}

const file = (path: string, content: string, mode = '100644'): GitChange => [
  Buffer.from(path),
  { mode, content },
];

function build(commit: Partial<NewCommit> = {}, contents: string[] = []) {
  return buildGitCommit(dir, {
    parents: [],
    changes: [],
    contents: contentsOf(contents),
    message: 'Subject\n\nHeadrace-Thread: thr_1\n',
    person: { name: 'Headrace', email: 'headrace@localhost' },
    date: new Date('2026-03-01T10:00:00Z'),
    signingKey: null,
    ...commit,
  });
}

test('a commit has its parents, its message, its dates, and is the same for the same arguments', async () => {
  const changes = [file('a', 'one'), file('b/c d', 'two', '100755'), file('b/"e"', 'one')];
  const root = await build({ changes }, ['one', 'two']);
  expect(await build({ changes }, ['two', 'one'])).toBe(root);
  expect(await git('ls-tree', '-r', '--format=%(objectmode) %(path)', root)).toBe(
    ['100644 a', '100644 "b/\\"e\\""', '100755 b/c d'].join('\n'),
  );
  expect(await git('cat-file', '-p', `${root}:b/c d`)).toBe('two');
  const other = await build({ message: 'Other\n' });
  const merge = await build({ parents: [root, other], changes: [[Buffer.from('a'), null]] });
  expect(await git('rev-list', '--parents', '-1', merge)).toBe(`${merge} ${root} ${other}`);
  expect(await git('ls-tree', '-r', '--name-only', merge)).toBe('"b/\\"e\\""\nb/c d');
  expect(await git('log', '-1', '--format=%an <%ae> %at %cn <%ce> %ct%n%B', merge)).toBe(
    'Headrace <headrace@localhost> 1772359200 Headrace <headrace@localhost> 1772359200\nSubject\n\nHeadrace-Thread: thr_1',
  );
});

test('no reference is made, and a lock of one that is left over does not matter', async () => {
  await writeFile(join(dir, 'packed-refs.lock'), '');
  const id = await build({ changes: [file('a', 'one')] }, ['one']);
  expect(await git('cat-file', '-t', id)).toBe('commit');
  expect(await git('for-each-ref')).toBe('');
  await rm(join(dir, 'packed-refs.lock'));
});

test('a name cannot end its line of the commit', async () => {
  const id = await build({ person: { name: 'A\nparent x <b>', email: 'a@b>\nauthor' } });
  expect(await git('log', '-1', '--format=%an|%ae', id)).toBe('A parent x b|a@b author');
});

test('contents that break end the commit with their own fault', async () => {
  async function* broken() {
    yield { key: 'one', bytes: Buffer.from('one') };
    throw new Error('the store is away');
  }
  await expect(build({ changes: [file('a', 'one')], contents: broken() })).rejects.toThrow(
    'the store is away',
  );
});

test('a commit is signed with an SSH key, and git verifies it', async () => {
  const key = join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
  const signers = join(folder, 'signers');
  const publicKey = execFileSync('ssh-keygen', ['-y', '-f', key], { encoding: 'utf8' }).trim();
  await writeFile(signers, `headrace@localhost ${publicKey}\n`);
  const commit = { changes: [file('a', 'one')], signingKey: key };
  const id = await build(commit, ['one']);
  expect(await build(commit, ['one'])).toBe(id);
  const plain = await build({ changes: commit.changes }, ['one']);
  const unsigned = (text: string) => text.replace(/\ngpgsig [^]*?-----END SSH SIGNATURE-----/, '');
  expect(unsigned(await git('cat-file', '-p', id))).toBe(await git('cat-file', '-p', plain));
  const verified = await runGit(dir, [
    '-c',
    'gpg.format=ssh',
    '-c',
    `gpg.ssh.allowedSignersFile=${signers}`,
    'verify-commit',
    id,
  ]);
  expect(verified.stderr).toContain('Good "git" signature for headrace@localhost');
});
