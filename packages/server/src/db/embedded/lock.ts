/** One service per data folder. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Takes the data folder (made if missing) for this process, or throws an error that names it. The returned
 * function gives it back.
 *
 * Node has no file locks; SQLite's are the kernel's (fcntl): sound between two that start at once, and gone
 * with the holder however it died. Rejected: a file with a process id (stale after kill -9, and taking over
 * a stale one is a race), a lock in PostgreSQL itself (lost whenever the server restarts). Never open
 * `service.lock` otherwise: closing any handle of it frees the lock.
 */
export function lockDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(dataDir, 'service.lock'), { timeout: 0 });
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    lock.close();
    if (!/locked/.test((error as Error).message)) throw error;
    throw new Error(
      `Another Headrace service runs on the data folder ${dataDir}: stop it, or set HEADRACE_DATA_DIR to another folder.`,
      { cause: error },
    );
  }
  return () => lock.close();
}
