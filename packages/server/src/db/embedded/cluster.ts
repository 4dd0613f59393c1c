/** Makes the data folder of the server, once, and refuses one of another major version. */
import { execFile } from 'node:child_process';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import type { Place } from './place.ts';
import { asUser, giveTo, initdbUid, serverUid } from './server-user.ts';

export const SUPERUSER = 'headrace';
const INITDB_LIMIT = 120_000;

/** Makes PGDATA where there is none. `durable` false leaves out fsync (tests). */
export async function ensureCluster(place: Place, binaries: Binaries, durable: boolean): Promise<void> {
  const found = versionOf(place.cluster);
  if (found === binaries.major) return;
  if (found !== null) throw new Error(foreignMajor(place, found, binaries.major));
  // Renamed when complete: a start that is killed half-way leaves nothing that looks like a database.
  const staging = `${place.cluster}.new`;
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { mode: 0o700 });
  giveTo(initdbUid(), staging);
  const options = [
    '--username',
    SUPERUSER,
    '--auth=trust',
    '--locale=C',
    '--encoding=UTF8',
    '--no-instructions',
    ...(durable ? [] : ['--no-sync']),
  ];
  const [command, ...args] = asUser(initdbUid(), [binaries.initdb, '-D', staging, ...options]);
  try {
    await promisify(execFile)(command!, args, { env: binaries.env, timeout: INITDB_LIMIT });
  } catch (error) {
    throw new Error(
      `The database could not be made in ${place.dataDir}: ${(error as { stderr?: string }).stderr?.trim() || (error as Error).message}`,
      { cause: error },
    );
  }
  giveTo(serverUid(place.cluster), staging);
  renameSync(staging, place.cluster);
  syncFolder(place.dataDir);
}

function versionOf(cluster: string): string | null {
  try {
    return readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function foreignMajor(place: Place, found: string, expected: string): string {
  return (
    `The database in ${place.cluster} was written by PostgreSQL ${found}, this version of Headrace runs PostgreSQL ${expected}. ` +
    'Start the version that wrote it, write a backup with its `npm run headrace -- backup DIR`, and restore it with ' +
    'this version into an empty data folder: `npm run headrace -- restore DIR`.'
  );
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
