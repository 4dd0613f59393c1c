/**
 * The keys of writes that may be under way. A command that changes something takes its key from a file, which is removed
 * when the command has ended with an answer. If it is killed, or no answer arrives, the same command takes the same key
 * again, and the service does each of its writes once.
 *
 *   – → begun      a file with a new key, named by the command and this process
 *   begun → –      the command ended: done, or refused
 *   begun (its process is dead) → begun, by this process: renamed, so that only one takes it
 *   begun (its process lives)   another command that says the same: it keeps its own key
 *   begun, older than the service's receipts → –
 */
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '../config/files.ts';
import type { Io } from './io.ts';

/** Shorter than the service keeps receipts. */
const KEPT_MS = 12 * 3_600_000;

export interface Write {
  /** The first part of the idempotency keys of the command's writes. */
  key: string;
  /** When the interrupted command began whose key this is; null for a new one. */
  continues: Date | null;
  /** Why the key does not outlive this process; null if it does. */
  unkept: string | null;
  /** The command has ended with an answer. */
  end(): void;
}

/** `identity`: everything that makes it the same command. `isFresh`: takes a new key in any case. */
export function beginWrite(io: Io, identity: readonly unknown[], isFresh: boolean): Write {
  const folder = join(stateFolder(io), 'writes');
  const hash = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return begun(folder, hash, isFresh);
  } catch (error) {
    // A full disk or a home that cannot be written is no reason to do nothing.
    const unkept = (error as Error).message;
    return { key: keyOf(randomUUID()), continues: null, unkept, end: () => {} };
  }
}

const keyOf = (id: string) => `cli:${id}`;

/** The file's name is all that it says: it is there as a whole, or not at all. */
function begun(folder: string, hash: string, isFresh: boolean): Write {
  const pathOf = (id: string) => join(folder, `${hash}.${process.pid}.${id}`);
  const writeWith = (id: string, continues: Date | null): Write => ({
    key: keyOf(id),
    continues,
    unkept: null,
    end: () => rmSync(pathOf(id), { force: true }),
  });
  for (const name of abandonedIn(folder).filter((one) => one.startsWith(`${hash}.`))) {
    const id = name.split('.')[2]!;
    const since = statSync(join(folder, name), { throwIfNoEntry: false })?.mtime;
    if (isFresh) rmSync(join(folder, name), { force: true });
    else if (since && isRenamed(join(folder, name), pathOf(id))) return writeWith(id, since);
  }
  const id = randomUUID();
  closeSync(openSync(pathOf(id), 'wx', 0o600));
  return writeWith(id, null);
}

/** The files of dead processes; those that are too old are removed. */
function abandonedIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => {
    if (isAlive(Number(name.split('.')[1]))) return false;
    const at = statSync(join(folder, name), { throwIfNoEntry: false });
    if (at && Date.now() - at.mtimeMs < KEPT_MS) return true;
    rmSync(join(folder, name), { force: true });
    return false;
  });
}

/** False if another process was first. */
function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  // A file of an earlier process that had this one's number.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
