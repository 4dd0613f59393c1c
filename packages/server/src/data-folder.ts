import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';

/** Written by each backup; its age is the backup's. */
export const lastBackupFile = (dataDir: string): string => join(dataDir, 'last-backup');

/** Makes the folders that hold tenants' files, for this account alone; warns of one that was there, and is open. */
export async function openDataFolder(dataDir: string, log: Pick<Logger, 'warn'>): Promise<void> {
  for (const folder of [dataDir, join(dataDir, 'merge')]) {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    // The umask takes rights away, never the owner's own, unless it is a strange one.
    if (made !== undefined) await chmod(folder, 0o700);
    else if (((await stat(folder)).mode & 0o077) !== 0)
      log.warn({ folder }, `other accounts of this machine can read ${folder}: chmod 700 it`);
  }
}
