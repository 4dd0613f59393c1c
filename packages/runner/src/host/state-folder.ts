import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lives, processStat } from '../sandbox/processes.ts';

const LOCK_WAIT_MS = 20_000,
  LOCK_POLL_MS = 200;

/** What a host keeps between two starts of its program: journals, worktrees, and what was asked for. */
export interface StateFolder {
  path: string;
  /** Lets another program have it. */
  release(): void;
}

/** Where the state of this host is. */
export function statePath(hostId: string, env: NodeJS.ProcessEnv): string {
  if (!/^\w{1,128}$/.test(hostId)) throw new Error('The service gave this host an id that is none.');
  const base = env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local/state');
  return join(base, 'headrace/host', hostId);
}

/**
 * Opens the folder for this process alone. The program that this one replaces gets a moment to end. Throws where it
 * does not.
 */
export async function openState(path: string): Promise<StateFolder> {
  for (const name of ['tasks', 'workspaces', 'worktrees', 'staged'])
    mkdirSync(join(path, name), { recursive: true, mode: 0o700 });
  const lock = join(path, 'lock');
  for (const deadline = Date.now() + LOCK_WAIT_MS; !takeLock(lock);) {
    if (Date.now() > deadline)
      throw new Error(
        `Another \`headrace host\` of this host is running (pid ${holderOf(lock)?.pid}). End it first.`,
      );
    await sleep(LOCK_POLL_MS);
  }
  return {
    path,
    release: () => {
      if (holderOf(lock)?.pid === process.pid) rmSync(lock, { force: true });
    },
  };
}

interface Holder {
  pid: number;
  startTime: string | null;
}

function takeLock(lock: string): boolean {
  const holder = holderOf(lock);
  if (holder && isAlive(holder)) return holder.pid === process.pid;
  if (holder) rmSync(lock, { force: true });
  try {
    const own: Holder = { pid: process.pid, startTime: processStat(process.pid)?.startTime ?? null };
    writeFileSync(lock, JSON.stringify(own), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function holderOf(lock: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(lock, 'utf8')) as Holder;
  } catch (error) {
    // A lock that was never written whole is nobody's.
    return error instanceof SyntaxError ? { pid: 0, startTime: null } : undefined;
  }
}

function isAlive({ pid, startTime }: Holder): boolean {
  if (pid === 0) return false;
  if (startTime !== null) return lives(pid, startTime);
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Writes a file so that it is there, whole, after a loss of power. */
export function writeDurably(file: string, content: string | Buffer): void {
  const part = `${file}.part`;
  const fd = openSync(part, 'w', 0o600);
  try {
    for (let bytes = Buffer.from(content), at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(part, file);
  syncFolder(dirname(file));
}

/** What was made or renamed in the folder stays so after a loss of power. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A file that this program wrote as JSON; undefined where there is none. */
export function readState<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
