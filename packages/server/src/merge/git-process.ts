import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * A git command that answers many requests over one stdin. One request at a time; the process starts with
 * the first one.
 */
export interface GitProcess {
  /**
   * Sends `input` and resolves with the output, which ends with `mark` (≤ 128 bytes): what git prints for
   * the last line of `input`, and for no other. Rejects with GitFailure when git dies or takes over
   * `limitMs`.
   */
  ask(input: string, mark: Buffer, limitMs: number): Promise<Buffer>;
  /** Ends the process, which a later request starts anew. */
  stop(): void;
}

export class GitFailure extends Error {
  readonly timedOut: boolean;
  /** Git gave up on an assertion of its own: asked again, it does so again. */
  readonly aborted: boolean;
  constructor(message: string, timedOut: boolean, aborted = false) {
    super(message);
    this.name = 'GitFailure';
    this.timedOut = timedOut;
    this.aborted = aborted;
  }
}

interface Waiting {
  chunks: Buffer[];
  size: number;
  mark: Buffer;
  resolve: (output: Buffer) => void;
  reject: (error: Error) => void;
}

const MAX_STDERR = 4096;
const MARK_BYTES = 128;
/** A long-lived git keeps every tree that it has parsed: start it anew before that counts. */
const MAX_REQUESTS = 5000;
/** Nothing of the machine's or a user's configuration may reach a merge. */
export const GIT_ENVIRONMENT = {
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

/**
 * @param args without `git` itself. `unbuffered`: the command does not flush after each answer (merge-tree
 * 2.39), so it runs behind `stdbuf`; where that is missing, each request has a process of its own, whose
 * end flushes.
 */
export function createGitProcess({
  gitDir,
  args,
  unbuffered,
  onSpawn,
}: {
  gitDir: string;
  args: string[];
  unbuffered: boolean;
  onSpawn?: (pid: number | undefined, alive: boolean) => void;
}): GitProcess {
  const stdbuf = unbuffered ? findOnPath('stdbuf') : undefined;
  const oneShot = unbuffered && stdbuf === undefined;
  const command = stdbuf ? [stdbuf, '-o0', 'git', ...args] : ['git', ...args];
  let child: ChildProcessWithoutNullStreams | undefined;
  let waiting: Waiting | undefined;
  let requests = 0;
  let turn: Promise<unknown> = Promise.resolve();

  function settle(act: (w: Waiting) => void): void {
    const w = waiting;
    waiting = undefined;
    if (w) act(w);
  }

  function start(): ChildProcessWithoutNullStreams {
    const env = { ...GIT_ENVIRONMENT, PATH: process.env['PATH'] ?? '/usr/bin:/bin', GIT_DIR: gitDir };
    const started = spawn(command[0]!, command.slice(1), { cwd: gitDir, env, stdio: 'pipe' });
    onSpawn?.(started.pid, true);
    let stderr = '';
    started.stderr.on('data', (data: Buffer) => {
      stderr = (stderr + data.toString('latin1')).slice(-MAX_STDERR);
    });
    started.stdin.on('error', () => undefined); // the end of the process tells what was wrong
    started.stdout.on('data', (data: Buffer) => {
      if (child === started) take(data);
    });
    const ended = (why: string, aborted: boolean): void => {
      onSpawn?.(started.pid, false);
      if (child !== started) return;
      child = undefined;
      settle((w) =>
        oneShot && w.size > 0
          ? w.resolve(Buffer.concat(w.chunks))
          : w.reject(new GitFailure(`${why}: ${stderr.trim()}`, false, aborted)),
      );
    };
    started.on('error', (error) => ended(`git did not start: ${error.message}`, false));
    started.on('close', (code, signal) => ended(`git ended (${code ?? signal})`, signal === 'SIGABRT'));
    requests = 0;
    return started;
  }

  function take(data: Buffer): void {
    if (!waiting) return;
    waiting.chunks.push(data);
    waiting.size += data.length;
    if (oneShot || !tail(waiting.chunks).subarray(-waiting.mark.length).equals(waiting.mark)) return;
    settle((w) => w.resolve(Buffer.concat(w.chunks)));
  }

  function stop(): void {
    const ending = child;
    child = undefined;
    ending?.kill('SIGKILL');
    settle((w) => w.reject(new GitFailure('git was stopped', false)));
  }

  async function askNow(input: string, mark: Buffer, limitMs: number): Promise<Buffer> {
    if (requests >= MAX_REQUESTS) stop();
    child ??= start();
    requests++;
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<Buffer>((resolve, reject) => {
      waiting = { chunks: [], size: 0, mark, resolve, reject };
      timer = setTimeout(() => {
        settle((w) => w.reject(new GitFailure(`git took over ${limitMs} ms`, true)));
        stop();
      }, limitMs);
    });
    child.stdin.write(input);
    if (oneShot) child.stdin.end();
    return answer.finally(() => clearTimeout(timer));
  }

  return {
    ask(input, mark, limitMs) {
      const answer = turn.then(() => askNow(input, mark, limitMs));
      turn = answer.catch(() => undefined);
      return answer;
    },
    stop,
  };
}

/**
 * The last bytes of what has come, over the borders of chunks: a long answer is not copied at every chunk.
 */
function tail(chunks: Buffer[]): Buffer {
  let from = chunks.length;
  let size = 0;
  while (from > 0 && size < MARK_BYTES) size += chunks[--from]!.length;
  return chunks.length - from === 1 ? chunks[from]! : Buffer.concat(chunks.slice(from));
}

function findOnPath(name: string): string | undefined {
  for (const dir of (process.env['PATH'] ?? '/usr/bin:/bin').split(delimiter)) {
    try {
      accessSync(join(dir, name), constants.X_OK);
      return join(dir, name);
    } catch {
      // not here
    }
  }
  return undefined;
}
