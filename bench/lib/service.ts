/** The real service as a child process, with a data folder and a port of its own. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeServiceKey } from '../../packages/server/src/accounts/keys.ts';
import { createCaller } from './http.ts';
import type { Caller } from './http.ts';

export interface StartOptions {
  env?: Record<string, string>;
  /** For Node, before the script: `--import`, `--cpu-prof`. */
  nodeArgs?: string[];
}

export interface Service extends Caller {
  base: string;
  key: string;
  pid: number;
  /** Ends the service, and its runner, which would wait half a minute for the next start. */
  stop(): Promise<void>;
}

const MAIN = join(import.meta.dirname, '../../packages/server/src/main.ts');
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 12_000;

export async function startService(scratch: string, { env = {}, nodeArgs = [] }: StartOptions = {}): Promise<Service> {
  const dataDir = mkdtempSync(join(scratch, 'data-'));
  const key = makeServiceKey();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...nodeArgs, MAIN], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, HEADRACE_DATA_DIR: dataDir, HEADRACE_PORT: '0', HEADRACE_BOOTSTRAP_KEY: key, HEADRACE_OWNER_EMAIL: 'owner@example.test', HEADRACE_OWNER_PASSWORD: 'a password of a benchmark', HEADRACE_RATE_LIMIT: '1000000000', ...env },
  });
  let base: string;
  try {
    base = await addressOf(child);
  } catch (error) {
    await end(child, dataDir);
    throw error;
  }
  const caller = createCaller(base, key);
  return {
    ...caller, base, key, pid: child.pid!,
    async stop() {
      caller.close();
      await end(child, dataDir);
    },
  };
}

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
    child.once('exit', (code, signal) => failed(`exit ${code ?? signal}`)).once('error', (error) => failed(error.message));
  });
}

async function end(child: ChildProcess, dataDir: string): Promise<void> {
  const ended = new Promise((resolve) => { child.once('exit', resolve); });
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await ended;
    clearTimeout(timer);
  }
  await endRunner(join(dataDir, 'runner'));
}

/** The runner has a session of its own; it is found by the folder on its command line. */
async function endRunner(stateDir: string): Promise<void> {
  const isOurs = (pid: string) => {
    try { return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(stateDir); } catch { return false; }
  };
  const runners = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOurs(name));
  for (const pid of runners) process.kill(Number(pid), 'SIGTERM');
  for (const deadline = Date.now() + STOP_LIMIT_MS; runners.some(isOurs) && Date.now() < deadline;) await sleep(50);
  for (const pid of runners.filter(isOurs)) process.kill(Number(pid), 'SIGKILL');
}
