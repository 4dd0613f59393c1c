import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A path for this process's repository below `dir`, which is made where it does not exist. */
export function scratchPath(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  removeAbandoned(dir);
  return join(dir, `merge-${process.pid}-${randomBytes(4).toString('hex')}`);
}

/** Removes the repositories of processes that died before they removed theirs. */
function removeAbandoned(dir: string): void {
  for (const name of readdirSync(dir)) {
    const pid = Number(/^merge-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1]);
    if (pid && !isAlive(pid)) rmSync(join(dir, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
