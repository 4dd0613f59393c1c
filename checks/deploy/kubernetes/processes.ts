/** Programs of the cluster, as children of this process, each with a log of its own. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const CALL_MS = 60_000;
const WAIT_MS = 120_000;
const STOP_MS = 20_000;
const LOG_TAIL = 3_000;

export interface Running {
  name: string;
  pid: number;
  isUp(): boolean;
  /** The end of what it said. */
  said(): string;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** All that were started and live, youngest first, for the end. */
const running: Running[] = [];

/** `through` begins the command line: what enters namespaces and goes on as the program. */
export function start(
  scratch: string,
  program: string,
  args: string[],
  through: readonly string[] = [],
): Running {
  const name = program.split('/').at(-1)!;
  const path = join(scratch, `${name}.log`);
  const log = openSync(path, 'a');
  const [command, ...rest] = [...through, program, ...args];
  const child = spawn(command!, rest, { stdio: ['ignore', log, log] });
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  const isUp = () => failure === undefined && child.exitCode === null && child.signalCode === null;
  const one: Running = {
    name,
    pid: child.pid ?? 0,
    isUp,
    said: () => `${failure?.message ?? ''}${readFileSync(path, 'utf8').slice(-LOG_TAIL)}`,
    signal: (name) => void child.kill(name),
    stop: () => stop(child, isUp),
  };
  running.unshift(one);
  return one;
}

async function stop(child: ChildProcess, isUp: () => boolean): Promise<void> {
  child.kill('SIGTERM');
  for (const from = Date.now(); isUp() && Date.now() - from < STOP_MS;) await sleep(50);
  child.kill('SIGKILL');
}

export async function stopAll(): Promise<void> {
  for (const one of running.splice(0)) await one.stop();
}

/** What a program printed. Throws with what it said to stderr, or after the limit. */
export async function call(
  program: string,
  args: string[],
  { limitMs = CALL_MS, env }: { limitMs?: number; env?: Record<string, string> } = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    timeout: limitMs,
    maxBuffer: 64 * 2 ** 20,
    ...(env ? { env: { PATH: process.env['PATH'], ...env } } : {}),
  });
  return stdout;
}

/** Asks until there is an answer, and returns it. Errors count as none, and the last one is told. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  limitMs = WAIT_MS,
): Promise<T> {
  let last = '';
  for (const from = Date.now(); Date.now() - from < limitMs; await sleep(200)) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
      last = '';
    } catch (error) {
      last = `: ${(error as Error).message}`;
    }
  }
  throw new Error(`not in ${limitMs / 1000} s: ${what}${last}`);
}

export interface Repeated {
  stop(): Promise<void>;
}

/** Does something again and again. A failure is printed, and tried again. */
export function repeat(what: string, everyMs: number, act: () => Promise<void>): Repeated {
  const ending = new AbortController();
  const loop = (async () => {
    for (; !ending.signal.aborted; await sleep(everyMs))
      await act().catch((error: Error) => console.error(`${what}: ${error.message}`));
  })();
  return {
    async stop() {
      ending.abort();
      await loop;
    },
  };
}
