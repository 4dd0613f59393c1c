/** The service as a child process, as `npm start` runs it, on the demo's data folder. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeServiceKey } from '@headrace/server/accounts/keys.ts';

export interface DemoService {
  address: string;
  key: string;
  /** The last lines that the process wrote. */
  log(): string;
  /** Sends SIGTERM; throws where the exit is not 0. */
  stop(): Promise<void>;
}

/** Of data that a demo makes; nobody but this machine reaches it. */
export const DEMO_OWNER = { email: 'owner@demo.test', password: 'the owner of the demo' };

const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 20_000;
const LOG_CHARACTERS = 6_000;
const MAIN = join(import.meta.dirname, '../../packages/server/src/main.ts');

class ServiceFailure extends Error {}

/** The key that the demo's database was made with; a first run makes it. */
async function keyOf(dataDir: string): Promise<string> {
  const file = join(dataDir, 'demo.key');
  await writeFile(file, makeServiceKey(), { flag: 'wx', mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
  return (await readFile(file, 'utf8')).trim();
}

/** Nothing of the caller's own service: the demo has its own database, folder and port. */
function environment(dataDir: string, key: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) =>
      name !== 'DATABASE_URL' &&
      (!name.startsWith('HEADRACE_') ||
        name.startsWith('HEADRACE_SANDBOX_') ||
        name === 'HEADRACE_LOG_LEVEL'),
  );
  return {
    ...Object.fromEntries(own),
    HEADRACE_DATA_DIR: dataDir,
    HEADRACE_PORT: '0',
    HEADRACE_BOOTSTRAP_KEY: key,
    HEADRACE_OWNER_EMAIL: DEMO_OWNER.email,
    HEADRACE_OWNER_PASSWORD: DEMO_OWNER.password,
    // The demo receives webhooks itself.
    HEADRACE_WEBHOOK_ALLOW_PRIVATE: '1',
  };
}

/** Starts it and waits for its address. Throws ServiceFailure with the log where none comes. */
export async function startService(dataDir: string): Promise<DemoService> {
  await mkdir(dataDir, { recursive: true });
  const key = await keyOf(dataDir);
  const child = spawn(process.execPath, [MAIN], {
    env: environment(dataDir, key),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const keep = (data: Buffer) => {
    log = (log + data.toString()).replaceAll(key, 'hrk_***').slice(-LOG_CHARACTERS);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'no code'));
  });
  const service = { key, log: () => log.trim(), stop: () => stop(child, ended) };
  const address = await Promise.race([
    addressOf(child),
    ended.then((code) => new ServiceFailure(`The service ended while it started (${code}):\n${log.trim()}`)),
    limit(),
  ]);
  if (typeof address === 'string') return { ...service, address };
  child.kill('SIGKILL');
  throw address;
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout!.on('data', (data: Buffer) => {
      if (text.length < 100_000) text += data.toString();
      const address = /^headrace listening on (\S+)\s*$/m.exec(text)?.[1];
      if (address) resolve(address);
    });
  });
}

const limit = () =>
  sleep(
    START_LIMIT_MS,
    new ServiceFailure(`The service did not say its address within ${START_LIMIT_MS / 1000} s.`),
    { ref: false },
  );

async function stop(child: ChildProcess, ended: Promise<number | string>): Promise<void> {
  child.kill('SIGTERM');
  const code = await Promise.race([ended, sleep(STOP_LIMIT_MS, 'no exit', { ref: false })]);
  if (code === 'no exit') child.kill('SIGKILL');
  if (code !== 0) throw new ServiceFailure(`The service did not stop cleanly (${code}).`);
}
