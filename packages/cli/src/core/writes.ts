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
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  /** The command has ended with an answer. */
  end(): void;
}

/** `identity`: everything that makes it the same command. `isFresh`: takes a new key in any case. */
export function beginWrite(io: Io, identity: readonly unknown[], isFresh: boolean): Write {
  const folder = join(stateFolder(io), 'writes');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const hash = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
  const path = join(folder, `${hash}.${process.pid}.${randomUUID()}`);
  const end = () => rmSync(path, { force: true });
  const abandoned = abandonedIn(folder);
  if (isFresh) {
    for (const name of abandoned.filter((one) => one.startsWith(`${hash}.`)))
      rmSync(join(folder, name), { force: true });
  } else {
    for (const name of abandoned.filter((one) => one.startsWith(`${hash}.`))) {
      const begun = statSync(join(folder, name), { throwIfNoEntry: false })?.mtime;
      if (begun && renamed(join(folder, name), path))
        return { key: readFileSync(path, 'utf8'), continues: begun, end };
    }
  }
  const key = `cli:${randomUUID()}`;
  writeFileSync(path, key, { mode: 0o600, flag: 'wx' });
  return { key, continues: null, end };
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
function renamed(from: string, to: string): boolean {
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
