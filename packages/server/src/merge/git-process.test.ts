import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { GitProcess } from './git-process.ts';
import { Blobs, lines } from './merge.fixture.ts';
import { createGit } from './git.ts';
import { mergeTrees } from './merge-trees.ts';
import { createObjectStore } from './object-store.ts';

const dir = mkdtempSync(join(tmpdir(), 'headrace-process-'));
const store = createObjectStore(dir);
const alive = new Set<number>();
const git = new GitProcess({
  gitDir: store.dir,
  args: ['cat-file', '--batch-check'],
  unbuffered: false,
  onSpawn: (pid, lives) => {
    if (pid !== undefined) alive[lives ? 'add' : 'delete'](pid);
  },
});
afterAll(() => {
  git.stop();
  rmSync(dir, { recursive: true, force: true });
});

const missing = Buffer.from('x missing\n');

test('a process that does not answer is killed in time, and the next request starts another', async () => {
  await expect(git.ask('x\n', Buffer.from('never said'), 50)).rejects.toMatchObject({
    name: 'GitFailure',
    timedOut: true,
  });
  await expect.poll(() => alive.size).toBe(0);
  expect((await git.ask('x\n', missing, 5000)).toString()).toBe('x missing\n');
});

test('a process that dies rejects with its last words, and the next request starts another', async () => {
  const broken = new GitProcess({
    gitDir: store.dir,
    args: ['cat-file', '--no-such-option'],
    unbuffered: false,
  });
  for (let i = 0; i < 2; i++)
    await expect(broken.ask('x\n', missing, 5000)).rejects.toMatchObject({
      timedOut: false,
      message: expect.stringContaining('no-such-option'),
    });
});

test('requests that come together are answered in order', async () => {
  const talking = new GitProcess({
    gitDir: store.dir,
    args: ['cat-file', '--batch-check'],
    unbuffered: false,
  });
  const answers = await Promise.all(
    ['a', 'b', 'c'].map((name) => talking.ask(`${name}\n`, Buffer.from(`${name} missing\n`), 5000)),
  );
  expect(answers.map(String)).toEqual(['a missing\n', 'b missing\n', 'c missing\n']);
  talking.stop();
});

test('without stdbuf every merge has a process of its own', async () => {
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  symlinkSync(execFileSync('which', ['git']).toString().trim(), join(bin, 'git'));
  const path = process.env['PATH'];
  process.env['PATH'] = bin;
  let spawned = 0;
  const plain = createGit({
    dir: join(dir, 'plain'),
    onSpawn: (_, lives) => {
      if (lives) spawned++;
    },
  });
  try {
    for (let i = 0; i < 3; i++) {
      const blobs = new Blobs();
      const [base, head, draft] = [
        blobs.tree({ a: lines(9) }),
        blobs.tree({ a: lines(9, { 1: `H${i}` }) }),
        blobs.tree({ a: lines(9, { 9: 'D' }) }),
      ];
      expect((await mergeTrees({ base, head, draft, readBlobs: blobs.read, git: plain })).status).toBe(
        'clean',
      );
    }
    expect(spawned).toBe(3);
  } finally {
    process.env['PATH'] = path;
    plain.close();
  }
});
