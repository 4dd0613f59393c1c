import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { GIT_ENVIRONMENT } from '../git/environment.ts';

export class GitFailure extends Error {
  readonly timedOut: boolean;
  /** One of git's own assertions failed: it would fail again for the same question. */
  readonly aborted: boolean;

  constructor(message: string, { timedOut = false, aborted = false } = {}) {
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
/** A long-lived git keeps every tree that it has parsed: it is replaced before that counts. */
const MAX_REQUESTS = 5000;
interface GitCommand {
  gitDir: string;
  /** Without `git` itself. */
  args: string[];
  /**
   * The command does not flush after each answer (merge-tree 2.39), so it runs behind `stdbuf`; where that
   * is missing, each request has a process of its own, whose end flushes.
   */
  unbuffered: boolean;
  /** Called for each process that starts and ends. */
  onSpawn?: (pid: number | undefined, alive: boolean) => void;
}

/**
 * A git command that answers many requests over one stdin. One request at a time; the process starts with
 * the first one.
 */
export class GitProcess {
  readonly #gitDir: string;
  readonly #command: string[];
  readonly #isOneShot: boolean;
  readonly #onSpawn: GitCommand['onSpawn'];
  #child: ChildProcessWithoutNullStreams | undefined;
  #waiting: Waiting | undefined;
  /** Of the process that runs. */
  #requests = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ gitDir, args, unbuffered, onSpawn }: GitCommand) {
    const stdbuf = unbuffered ? findOnPath('stdbuf') : undefined;
    this.#gitDir = gitDir;
    this.#command = stdbuf ? [stdbuf, '-o0', 'git', ...args] : ['git', ...args];
    this.#isOneShot = unbuffered && stdbuf === undefined;
    this.#onSpawn = onSpawn;
  }

  /**
   * Sends `input` and resolves with the output, which ends with `mark` (≤ 128 bytes): what git prints for
   * the last line of `input`, and for no other. Rejects with GitFailure when git dies or takes over
   * `limitMs`.
   */
  ask(input: string, mark: Buffer, limitMs: number): Promise<Buffer> {
    const answer = this.#turn.then(() => this.#askNow(input, mark, limitMs));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /** Ends the process; a later request starts another. */
  stop(): void {
    const ending = this.#child;
    this.#child = undefined;
    ending?.kill('SIGKILL');
    this.#settle((w) => w.reject(new GitFailure('git was stopped')));
  }

  async #askNow(input: string, mark: Buffer, limitMs: number): Promise<Buffer> {
    if (this.#requests >= MAX_REQUESTS) this.stop();
    const child = (this.#child ??= this.#start());
    this.#requests++;
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<Buffer>((resolve, reject) => {
      this.#waiting = { chunks: [], size: 0, mark, resolve, reject };
      timer = setTimeout(() => {
        this.#settle((w) => w.reject(new GitFailure(`git took over ${limitMs} ms`, { timedOut: true })));
        this.stop();
      }, limitMs);
    });
    child.stdin.write(input);
    if (this.#isOneShot) child.stdin.end();
    return answer.finally(() => clearTimeout(timer));
  }

  #start(): ChildProcessWithoutNullStreams {
    const env = { ...GIT_ENVIRONMENT, PATH: process.env['PATH'] ?? '/usr/bin:/bin', GIT_DIR: this.#gitDir };
    const [command, ...args] = this.#command;
    const child = spawn(command!, args, { cwd: this.#gitDir, env, stdio: 'pipe' });
    this.#onSpawn?.(child.pid, true);
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => {
      stderr = (stderr + data.toString('latin1')).slice(-MAX_STDERR);
    });
    child.stdin.on('error', () => undefined); // the end of the process says what was wrong
    child.stdout.on('data', (data: Buffer) => {
      if (this.#child === child) this.#take(data);
    });
    const ended = (why: string, aborted: boolean): void => {
      this.#onSpawn?.(child.pid, false);
      if (this.#child === child) this.#end(new GitFailure(`${why}: ${stderr.trim()}`, { aborted }));
    };
    child.on('error', (error) => ended(`git did not start: ${error.message}`, false));
    child.on('close', (code, signal) => ended(`git ended (${code ?? signal})`, signal === 'SIGABRT'));
    this.#requests = 0;
    return child;
  }

  #take(data: Buffer): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    waiting.chunks.push(data);
    waiting.size += data.length;
    if (this.#isOneShot || !tail(waiting.chunks).subarray(-waiting.mark.length).equals(waiting.mark)) return;
    this.#settle((w) => w.resolve(Buffer.concat(w.chunks)));
  }

  /** The end of a process with one request is the end of its answer. */
  #end(failure: GitFailure): void {
    this.#child = undefined;
    this.#settle((w) =>
      this.#isOneShot && w.size > 0 ? w.resolve(Buffer.concat(w.chunks)) : w.reject(failure),
    );
  }

  #settle(act: (w: Waiting) => void): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) act(waiting);
  }
}

/** The last bytes of the chunks: a long answer is not copied at every chunk. */
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
