/**
 * git's own `http-backend` for one request. It reads the body on stdin and answers as CGI: header lines, an empty
 * line, the body. A caller chooses no part of its command line, and of its environment only the version of git's protocol.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { gitEnvironment } from '../../git/run-git.ts';

const HOOKS = join(import.meta.dirname, 'hooks');
/** For git to end by itself, and then by a signal. */
const END_MS = 5_000;
const LOOK_MS = 5_000;
const MAX_HEAD = 16 * 1024;
const MAX_STDERR = 4096;
const PROTOCOL = /^[\w=:.-]{1,100}$/;

export const SERVICES = ['git-upload-pack', 'git-receive-pack'] as const;
export type Service = (typeof SERVICES)[number];

export interface BackendRequest {
  /** The repository's folder. */
  dir: string;
  service: Service;
  /** Lists the references; else it serves the body. */
  isAdvertisement: boolean;
  /** As the client's `Git-Protocol` asks for. */
  protocol: string | undefined;
}

export interface Limits {
  /** From start to end. */
  ms: number;
  /** Without a byte in or out. */
  idleMs: number;
}

let program: string | undefined;

/** Started by itself, not by way of `git`: that is a process less for each request. */
async function findProgram(): Promise<string> {
  if (program === undefined) {
    const { stdout } = await promisify(execFile)('git', ['--exec-path'], { env: gitEnvironment() });
    program = join(stdout.trim(), 'git-http-backend');
  }
  return program;
}

export async function startBackend(request: BackendRequest, limits: Limits): Promise<Backend> {
  return new Backend(await findProgram(), request, limits);
}

export class Backend {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Resolves when git has ended and all is read: its exit code, null when it was killed. */
  readonly ended: Promise<number | null>;
  stderr = '';
  /** Why it was stopped. */
  stopped: Error | null = null;

  constructor(file: string, { dir, service, isAdvertisement, protocol }: BackendRequest, limits: Limits) {
    this.#child = spawn(file, {
      cwd: dir,
      env: gitEnvironment({
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'core.hooksPath',
        GIT_CONFIG_VALUE_0: HOOKS,
        GIT_PROJECT_ROOT: dirname(dir),
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: `/${basename(dir)}/${isAdvertisement ? 'info/refs' : service}`,
        REQUEST_METHOD: isAdvertisement ? 'GET' : 'POST',
        QUERY_STRING: isAdvertisement ? `service=${service}` : '',
        CONTENT_TYPE: isAdvertisement ? '' : `application/x-${service}-request`,
        ...(protocol !== undefined && PROTOCOL.test(protocol) ? { GIT_PROTOCOL: protocol } : {}),
      }),
      // Descriptor 3 is for the hooks of a push.
      stdio: ['pipe', 'pipe', 'pipe', service === 'git-receive-pack' ? 'pipe' : 'ignore'],
    }) as ChildProcessByStdio<Writable, Readable, Readable>;
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject).once('close', resolve);
    });
    this.ended.catch(() => undefined).finally(() => this.#timers.forEach((timer) => clearTimeout(timer)));
    // Its end says what was wrong.
    this.input.on('error', () => undefined);
    this.output.on('error', () => undefined);
    this.hooks?.on('error', () => undefined);
    this.#child.stderr.on('data', (data: Buffer) => {
      this.stderr = (this.stderr + data.toString('utf8')).slice(-MAX_STDERR);
    });
    this.#limit(limits);
  }

  get input(): Writable {
    return this.#child.stdin;
  }

  get output(): Readable {
    return this.#child.stdout;
  }

  /** On which the hooks of a push ask and report; null for a fetch. */
  get hooks(): Duplex | null {
    return (this.#child.stdio[3] ?? null) as unknown as Duplex | null;
  }

  /**
   * Ends git and its children. A push ends where its input does, and what it says is read: git then puts away
   * what the push has brought. Where a signal ends it, it leaves that.
   */
  stop(reason: Error): void {
    if (this.stopped) return;
    this.stopped = reason;
    this.input.destroy();
    if (this.hooks) this.output.resume();
    // A reader learns that this is not the end.
    else this.output.destroy(reason);
    this.#timers.push(
      setTimeout(() => this.#child.kill('SIGTERM'), this.hooks ? END_MS : 0),
      setTimeout(() => {
        this.#child.kill('SIGKILL');
        this.output.destroy(reason);
      }, 2 * END_MS),
    );
  }

  /** Reads the header lines; what follows is left in `output`. Rejects when git ends before. */
  async readHead(): Promise<{ status: number; type: string }> {
    let head: Buffer = Buffer.alloc(0);
    for (;;) {
      const end = head.indexOf('\r\n\r\n');
      if (end >= 0) {
        if (head.length > end + 4) this.output.unshift(head.subarray(end + 4));
        const lines = head.toString('latin1', 0, end).split('\r\n');
        const valueOf = (name: string) =>
          lines.find((line) => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2);
        return {
          status: Number.parseInt(valueOf('status') ?? '200', 10),
          type: valueOf('content-type') ?? 'text/plain',
        };
      }
      const more = (this.output.read() ?? (await this.#nextBytes())) as Buffer | null;
      if (more === null || head.length > MAX_HEAD)
        throw this.stopped ?? new Error(`git http-backend gave no header: ${this.stderr.trim()}`);
      head = Buffer.concat([head, more]);
    }
  }

  /** Null at the end. */
  #nextBytes(): Promise<Buffer | null> {
    const { output } = this;
    return new Promise((resolve) => {
      const look = () => {
        const bytes = output.read() as Buffer | null;
        if (bytes !== null || output.readableEnded || output.destroyed) settle(bytes);
      };
      const end = () => settle(null);
      const settle = (bytes: Buffer | null) => {
        output.off('readable', look).off('end', end).off('close', end);
        resolve(bytes);
      };
      output.on('readable', look).once('end', end).once('close', end);
      if (output.destroyed) end();
    });
  }

  #limit({ ms, idleMs }: Limits): void {
    const moved = () =>
      [this.#child.stdin, this.#child.stdout].reduce(
        (sum, stream) => sum + (stream as Socket).bytesRead + (stream as Socket).bytesWritten,
        0,
      );
    let last = moved(),
      since = Date.now();
    const look = setInterval(
      () => {
        const now = moved();
        if (now !== last) [last, since] = [now, Date.now()];
        else if (Date.now() - since >= idleMs) this.stop(new Error(`nothing moved for ${idleMs} ms`));
      },
      Math.min(LOOK_MS, idleMs),
    );
    this.#timers.push(
      look,
      setTimeout(() => this.stop(new Error(`took over ${ms} ms`)), ms),
    );
  }
}
