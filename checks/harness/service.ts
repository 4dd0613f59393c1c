/** The real service as a child process, with its own data folder and port. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeServiceKey } from '../../packages/server/src/accounts/keys.ts';
import { placeOf } from '../../packages/server/src/db/embedded/place.ts';
import { stopProcesses } from '../../packages/server/src/db/embedded/processes.ts';
import { createCaller } from './http.ts';
import type { Caller } from './http.ts';

export interface StartOptions {
  env?: Record<string, string>;
  /** For Node, before the script: `--import`, `--cpu-prof`. */
  nodeArgs?: string[];
  /**
   * A folder that is there already, so that processes share it or one starts again on it; default a fresh
   * one.
   */
  dataDir?: string;
  /** The key of the first start; default a fresh one. */
  key?: string;
  /** Another version's main file; default this one's. */
  main?: string;
  /** Whether it gets a session of its own, as Linux divides cores between sessions: like a machine of its own. */
  hasSession?: boolean;
  /** Begins the command line: what enters other namespaces and goes on as the service. */
  enter?: readonly string[];
}

export interface Service extends Caller {
  base: string;
  key: string;
  dataDir: string;
  pid: number;
  /** Whether the process lives. */
  isUp(): boolean;
  /** The last of what it said. */
  said(): string;
  /**
   * Ends the service, its runner, which would wait half a minute for the next start, and what a killed
   * service leaves.
   */
  stop(): Promise<void>;
  /** `kill -9` of the service's own process; its runner and its database live on. */
  kill9(): Promise<void>;
}

export const MAIN = join(import.meta.dirname, '../../packages/server/src/main.ts');
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 12_000;

export async function startService(
  scratch: string,
  {
    env = {},
    nodeArgs = [],
    dataDir = mkdtempSync(join(scratch, 'data-')),
    key = makeServiceKey(),
    main = MAIN,
    hasSession = false,
  }: StartOptions = {},
): Promise<Service> {
  const child = spawnService({ env, nodeArgs, dataDir, key, main, hasSession });
  let base: string;
  try {
    base = await addressOf(child);
  } catch (error) {
    await endProcess(child);
    await endLeftovers(dataDir);
    throw error;
  }
  const caller = createCaller(base, key);
  const said = lastOf(child);
  return {
    ...caller,
    base,
    key,
    dataDir,
    pid: child.pid!,
    said,
    isUp: () => isAlive(child),
    async stop() {
      caller.close();
      await endProcess(child);
      await endLeftovers(dataDir);
    },
    async kill9() {
      child.kill('SIGKILL');
      await endOf(child);
    },
  };
}

/** One process of the service, not waited for. */
export function spawnService({
  env = {},
  nodeArgs = [],
  dataDir,
  key,
  main = MAIN,
  hasSession = false,
  enter = [],
}: StartOptions & { dataDir: string; key: string }): ChildProcess {
  const [command = process.execPath, ...rest] = [...enter, ...(enter.length > 0 ? [process.execPath] : [])];
  return spawn(command, [...rest, '--disable-warning=ExperimentalWarning', ...nodeArgs, main], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: hasSession,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HEADRACE_DATA_DIR: dataDir,
      HEADRACE_PORT: '0',
      HEADRACE_BOOTSTRAP_KEY: key,
      HEADRACE_OWNER_EMAIL: OWNER.email,
      HEADRACE_OWNER_PASSWORD: OWNER.password,
      HEADRACE_RATE_LIMIT: '1000000000',
      ...env,
    },
  });
}

/** Who signs in at every service that is started here. */
export const OWNER = { email: 'owner@example.test', password: 'a password of a benchmark' };

/** A server says its address in one line once it takes requests. */
export function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const failed = (why: string) => {
      clearTimeout(timer);
      reject(new Error(`The server did not start (${why}): ${said.slice(-2000)}`));
    };
    const timer = setTimeout(() => failed('no address in time'), START_LIMIT_MS);
    const listen = (part: Buffer) => {
      said = (said + part.toString()).slice(-10_000);
      const address = /listening on (http:\S+)/.exec(said)?.[1];
      if (!address) return;
      clearTimeout(timer);
      resolve(address);
    };
    // Read to the end: a full pipe would stop the server.
    child.stdout!.on('data', listen);
    child.stderr!.on('data', listen);
    child
      .once('exit', (code, signal) => failed(`exit ${code ?? signal}`))
      .once('error', (error) => failed(error.message));
  });
}

const isAlive = (child: ChildProcess) =>
  child.exitCode === null && child.signalCode === null && child.pid !== undefined;

/** What a process says from now on, the last 2,000 characters of it. */
export function lastOf(child: ChildProcess): () => string {
  let said = '';
  const listen = (part: Buffer) => {
    said = (said + part.toString()).slice(-2000);
  };
  child.stdout!.on('data', listen);
  child.stderr!.on('data', listen);
  return () => said.trim();
}

/** Resolves when the process has ended, however that was. */
export async function endOf(child: ChildProcess): Promise<void> {
  if (isAlive(child))
    await new Promise((resolve) => {
      child.once('exit', resolve);
    });
}

/** SIGTERM, and SIGKILL for one that does not end. */
export async function endProcess(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await endOf(child);
  clearTimeout(timer);
}

/**
 * Ends what services of a data folder leave running: the runner, and the embedded database of one that was
 * killed.
 */
export async function endLeftovers(dataDir: string): Promise<void> {
  await endRunner(join(dataDir, 'runner'));
  await stopProcesses(placeOf(dataDir, {}, ''));
}

/** The process of a data folder's runner. Throws where there is none. */
export function runnerOf(dataDir: string): number {
  const stateDir = join(dataDir, 'runner');
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isRunner(name, stateDir));
  if (pid === undefined) throw new Error(`${dataDir} has no runner`);
  return Number(pid);
}

/** Runners have their own sessions, so they are found by the folder on their command lines. */
function isRunner(pid: string, stateDir: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      .split('\0')
      .some((arg) => arg === stateDir || arg.startsWith(`${stateDir}/`));
  } catch {
    return false;
  }
}

async function endRunner(stateDir: string): Promise<void> {
  const isOurs = (pid: string) => isRunner(pid, stateDir);
  const runners = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOurs(name));
  for (const pid of runners) process.kill(Number(pid), 'SIGTERM');
  for (const deadline = Date.now() + STOP_LIMIT_MS; runners.some(isOurs) && Date.now() < deadline;)
    await sleep(50);
  for (const pid of runners.filter(isOurs)) process.kill(Number(pid), 'SIGKILL');
}
