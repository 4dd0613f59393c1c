import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRunnerClient, type RunnerClient } from './runner-client.ts';
import { RunnerError } from '../errors.ts';
import { newRunnerId, RUNNER_ID } from '../runner-id.ts';
import type { DriverChoice } from '../sandbox/drivers.ts';
import { IN_OWN_MOUNTS, runnerEnv } from './own-mounts.ts';
import { runnerProgram } from './runner-program.ts';

const START_TIMEOUT_MS = 30_000;
const POLL_MS = 20;
const LONGEST_SOCKET_PATH = 107;

interface EnsureOptions {
  stateDir: string;
  /** Where its name is kept: by default in the state folder, which may be of one version. */
  idDir?: string;
  socketPath: string;
  nodePath?: string;
  id?: string;
  idleSeconds?: number;
  sandboxes?: Partial<DriverChoice>;
  /** Where workspaces lie; null: in memory where there is enough, else in the system's temporary folder. */
  place?: string | null;
}

/**
 * A client of the runner on this socket; starts one, detached in its own session, where none answers. Two
 * concurrent callers get the same runner: one starts it, under a lock folder, the other waits. Throws
 * `unavailable` 503 when none answers within 30 s.
 */
export async function ensureRunner(options: EnsureOptions): Promise<RunnerClient> {
  if (Buffer.byteLength(options.socketPath) > LONGEST_SOCKET_PATH)
    throw new RangeError(
      `${options.socketPath} is longer than a unix socket's path may be (${LONGEST_SOCKET_PATH} bytes)`,
    );
  const client = createRunnerClient(options.socketPath);
  const lock = `${options.stateDir}/starting`;
  mkdirSync(options.stateDir, { recursive: true, mode: 0o700 });
  let failure = '';
  for (const deadline = Date.now() + START_TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    if (
      await client.status().then(
        () => true,
        () => false,
      )
    )
      return client;
    if (!takeLock(lock)) continue;
    try {
      if (
        !(await client.status().then(
          () => true,
          () => false,
        ))
      )
        failure = await start(options);
    } finally {
      rmdirSync(lock);
    }
  }
  client.close();
  throw new RunnerError(503, 'unavailable', `No runner answers on ${options.socketPath}. ${failure}`.trim());
}

/** A lock older than the longest start was left by a starter that died. */
function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    /* another starts one */
  }
  try {
    if (Date.now() - statSync(lock).mtimeMs > START_TIMEOUT_MS) rmdirSync(lock);
  } catch {
    /* it is done */
  }
  return false;
}

/**
 * The name that all runners of a folder have, one after the other: random, so that two machines on one database
 * have different ones. Made once; the caller holds the lock of a start.
 */
function idOf(folder: string): string {
  const path = join(folder, 'id');
  const known = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (RUNNER_ID.test(known)) return known;
  const id = newRunnerId();
  // Whole or not at all: half an id would be another runner's after the next start.
  writeFileSync(`${path}.new`, `${id}\n`);
  renameSync(`${path}.new`, path);
  return id;
}

/** Starts a runner. Resolves with '' when it is ready, or with what it printed instead. */
async function start({
  stateDir,
  socketPath,
  nodePath = process.execPath,
  idDir = stateDir,
  id = idOf(idDir),
  idleSeconds,
  sandboxes = {},
  place = null,
}: EnsureOptions): Promise<string> {
  const args = [
    await runnerProgram(stateDir),
    '--socket',
    socketPath,
    '--dir',
    stateDir,
    '--id',
    id,
    '--sandboxes',
    JSON.stringify(sandboxes),
    ...(place === null ? [] : ['--place', place]),
    ...(idleSeconds === undefined ? [] : ['--idle-seconds', String(idleSeconds)]),
  ];
  return new Promise((resolve) => {
    const child = spawn(
      '/bin/sh',
      ['-c', IN_OWN_MOUNTS, 'sh', nodePath, '--disable-warning=ExperimentalWarning', '--expose-gc', ...args],
      {
        detached: true,
        env: runnerEnv(),
        cwd: '/',
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let said = '';
    const done = (): void => {
      clearTimeout(timer);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      child.unref();
      resolve(said.trim().slice(-1000));
    };
    const timer = setTimeout(done, START_TIMEOUT_MS);
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      said += part;
    });
    child.stdout.once('data', () => {
      said = '';
      done();
    });
    child
      .once('error', (error) => {
        said = error.message;
        done();
      })
      .once('exit', done);
  });
}
