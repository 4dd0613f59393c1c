/**
 * git takes a lock file for each name that it moves, for milliseconds. One that is left by a process that was
 * killed would keep that name from ever moving again.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** A push of thousands of names holds its locks for seconds. */
export const STALE_MS = 30_000;
const LOOK_MS = 100;

/**
 * Resolves once nothing holds these names of a repository (`refs/heads/main`): what does is waited for, and
 * removed where it is older than any living process's.
 */
export async function awaitUnlocked(gitDir: string, names: Iterable<string>): Promise<void> {
  for (const name of ['HEAD', 'packed-refs', ...names])
    while (await isLocked(join(gitDir, `${name}.lock`))) await wait(LOOK_MS);
}

async function isLocked(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => null);
  if (!found) return false;
  if (Date.now() - found.mtimeMs < STALE_MS) return true;
  await rm(lock, { force: true });
  return false;
}
