/** Where a worker's gateway listens: a short path, as that of a unix socket has at most 107 bytes. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

let made = 0;

/** Returns a path that is free. Removes sockets that killed processes of this data folder left. */
export async function socketPlace(dataDir: string): Promise<string> {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `headrace-${uid}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid: owner, mode } = await lstat(folder);
  if (owner !== uid || (mode & 0o077) !== 0)
    throw new Error(`${folder} has to belong to this user alone (mode 0700): remove it, or set TMPDIR.`);
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  for (const file of await readdir(folder)) {
    const pid = new RegExp(`^${name}-(\\d+)-\\d+\\.gateway$`).exec(file)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(folder, file), { force: true });
  }
  made++;
  const path = join(folder, `${name}-${process.pid}-${made}.gateway`);
  // An earlier process may have had this number.
  await rm(path, { force: true });
  return path;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
