/** git, timed from its start to its end: the process is part of what a user of git pays. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { GitProcess } from '../../packages/server/src/merge/git-process.ts';

interface GitOptions {
  cwd: string;
  env?: Record<string, string>;
  input?: string | Buffer;
}

const LIMIT_MS = 120_000;
/** No configuration of the machine or its user, no collection in the background. */
const ENV = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'gc.auto',
  GIT_CONFIG_VALUE_0: '0',
  GIT_AUTHOR_NAME: 'b',
  GIT_AUTHOR_EMAIL: 'b@example.test',
  GIT_COMMITTER_NAME: 'b',
  GIT_COMMITTER_EMAIL: 'b@example.test',
};

/** Runs `command` by the shell. Throws when it fails. */
export function timed(
  command: string,
  { cwd, env = {}, input }: GitOptions,
): Promise<{ ms: number; output: string }> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const child = spawn('/bin/sh', ['-c', command], {
      cwd,
      env: { PATH: process.env.PATH, ...ENV, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
    });
    let output = '';
    let complaint = '';
    child.stdout.on('data', (part: Buffer) => {
      output += part.toString();
    });
    child.stderr.on('data', (part: Buffer) => {
      complaint += part.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => {
      const ms = performance.now() - from;
      if (code === 0) resolve({ ms, output: output.trim() });
      else reject(new Error(`${command}: exit ${code}: ${complaint.slice(0, 500)}`));
    });
    child.stdin.on('error', () => {}).end(input ?? '');
  });
}

/**
 * The tree that `git merge-tree --write-tree` makes of two commits of a bare repository, in a process of
 * its own, without a shell. Throws where they conflict.
 */
export function mergeTree(repository: string, head: string, draft: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      'git',
      ['merge-tree', '--write-tree', head, draft],
      { cwd: repository, env: { PATH: process.env.PATH, ...ENV }, timeout: LIMIT_MS },
      (error, output) => (error ? reject(error) : resolve(output.trim())),
    );
  });
}

/** The same by one git that stays. `known` is any commit of the repository. */
export function startMergeTree(
  repository: string,
  known: string,
): { merge(head: string, draft: string): Promise<string>; stop(): void } {
  const git = new GitProcess({
    gitDir: repository,
    args: ['merge-tree', '--write-tree', '--stdin'],
    unbuffered: true,
  });
  // A commit merged with itself marks the end of the answer: git prints its tree.
  const tree = execFileSync('git', ['rev-parse', `${known}^{tree}`], {
    cwd: repository,
    encoding: 'utf8',
    timeout: LIMIT_MS,
  }).trim();
  const mark = Buffer.from(`1\0${tree}\0\0`);
  return {
    async merge(head, draft) {
      const [clean, merged] = (await git.ask(`${head} ${draft}\n${known} ${known}\n`, mark, LIMIT_MS))
        .toString()
        .split('\0');
      if (clean !== '1') throw new Error('git found conflicts');
      return merged!;
    },
    stop: () => git.stop(),
  };
}
