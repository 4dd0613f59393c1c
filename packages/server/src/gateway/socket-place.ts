/** Where a worker's gateway listens. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { socketFolder, socketName } from '../runner/socket-folder.ts';

let made = 0;

/** Returns a path that is free. Removes sockets that killed processes of this data folder left. */
export async function socketPlace(dataDir: string): Promise<string> {
  const folder = socketFolder(dataDir),
    name = socketName(dataDir);
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
