/**
 * git on this machine, in repositories of the service alone: never in files that came out of a sandbox. No
 * configuration but the repository's own reaches it, which the service writes, and no hook runs.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { Readable } from 'node:stream';
import { GIT_ENVIRONMENT } from './environment.ts';

export class GitError extends Error {
  readonly code: number | null;
  /** What git said, at most 4 KiB of it; may name addresses, never credentials. */
  readonly stderr: string;
  readonly timedOut: boolean;

  constructor(message: string, what: { code: number | null; stderr: string; timedOut: boolean }) {
    super(message);
    this.name = 'GitError';
    this.code = what.code;
    this.stderr = what.stderr;
    this.timedOut = what.timedOut;
  }
}

export interface GitOptions {
  input?: Buffer | string | Readable;
  /** Added to an environment that is otherwise empty: indexes, dates, credentials. */
  env?: Record<string, string>;
  limitMs?: number;
  signal?: AbortSignal;
  /** Bytes of the answer. */
  maxOutput?: number;
  /** Exit codes that are answers too. By default 0 alone. */
  codes?: readonly number[];
  /** At the lowest priority. */
  isBackground?: boolean;
  /** It changes refs/headrace/commits or what the repository has of history: see startGitAlone. */
  isAlone?: boolean;
}

const LIMIT_MS = 60_000;
const MAX_OUTPUT = 64 * 1024 * 1024;
const MAX_STDERR = 4096;

export const gitEnvironment = (env: Record<string, string> = {}): Record<string, string> => ({
  ...GIT_ENVIRONMENT,
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  ...env,
});

/** Starts git in a repository; the caller reads, writes and ends it. `args` hold no secret. */
export function startGit(
  gitDir: string,
  args: readonly string[],
  env?: Record<string, string>,
): ChildProcess {
  return spawn('git', ['-c', 'core.hooksPath=/dev/null', ...args], {
    cwd: gitDir,
    env: gitEnvironment({ GIT_DIR: gitDir, ...env }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/**
 * As startGit, once no other git of this kind works in the repository, in whatever process. The lock is the
 * kernel's and git inherits it: it ends with the last process of a git whose service was killed. Lock files
 * that are there then are left over. Ending the child ends its wait, too.
 */
function startGitAlone(gitDir: string, args: readonly string[], env?: Record<string, string>): ChildProcess {
  return spawn('sh', ['-c', ALONE, 'git', '-c', 'core.hooksPath=/dev/null', ...args], {
    cwd: gitDir,
    env: gitEnvironment({ GIT_DIR: gitDir, ...env }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Others may hold packed-refs.lock for a moment: one that is old is left over. */
const ALONE = `exec 9>>alone.lock && flock -x 9 && rm -f shallow.lock && find . -maxdepth 1 -name packed-refs.lock -mmin +1 -delete && mkdir -p refs/headrace/commits && find refs/headrace/commits -name '*.lock' -delete && exec git "$@"`;

/** Its children inherit it. */
function yieldToOthers({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended already.
  }
}

/**
 * Runs git in a repository and gives its whole output. Throws GitError when it exits with a code that is
 * not among `codes`, takes over `limitMs` (60 s), or says more than `maxOutput` (64 MiB), and what `input`
 * breaks with. `input` is read at git's pace and ends with it.
 */
export async function runGit(
  gitDir: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<{ code: number; output: Buffer; stderr: string }> {
  const { input, env, limitMs = LIMIT_MS, signal, maxOutput = MAX_OUTPUT, codes = [0] } = options;
  signal?.throwIfAborted();
  const child = (options.isAlone ? startGitAlone : startGit)(gitDir, args, env);
  if (options.isBackground) yieldToOthers(child);
  const chunks: Buffer[] = [];
  let size = 0,
    stderr = '',
    timedOut = false,
    tooLong = false,
    broken: unknown;
  child.stdout!.on('data', (data: Buffer) => {
    size += data.length;
    if (size <= maxOutput) return chunks.push(data);
    tooLong = true;
    return child.kill('SIGKILL');
  });
  child.stderr!.on('data', (data: Buffer) => {
    stderr = (stderr + data.toString('utf8')).slice(-MAX_STDERR);
  });
  child.stdin!.on('error', () => undefined); // the end of the process says what was wrong
  if (input === undefined || typeof input === 'string' || Buffer.isBuffer(input)) child.stdin!.end(input);
  else
    input
      .on('error', (error: unknown) => {
        broken = error;
        child.kill('SIGKILL');
      })
      .pipe(child.stdin!);
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, limitMs);
  const stop = (): void => void child.kill('SIGKILL');
  signal?.addEventListener('abort', stop);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    signal?.throwIfAborted();
    if (broken !== undefined) throw broken;
    if (code !== null && codes.includes(code) && !tooLong)
      return { code, output: Buffer.concat(chunks), stderr };
    const why = timedOut ? `took over ${limitMs} ms` : tooLong ? 'said too much' : `ended (${code})`;
    throw new GitError(`git ${args[0]} ${why}: ${stderr.trim()}`, { code, stderr, timedOut });
  } finally {
    clearTimeout(timer);
    if (input instanceof Readable) input.destroy();
    signal?.removeEventListener('abort', stop);
  }
}
