/** Where an embedded server keeps its files, and the name under which its processes are found again. */
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export interface Place {
  dataDir: string;
  /** PGDATA. */
  cluster: string;
  socketDir: string;
  log: string;
  /** Begins the title of every process of this data folder's server, whatever its settings. */
  title: string;
  /** `title` and the settings' hash: a server that was started with other settings is not adopted. */
  clusterName: string;
}

export const PORT = 5432;
/** sun_path holds 107 bytes and a NUL. */
const SOCKET_PATH_MAX = 107;

/** `dataDir` has to exist. */
export function placeOf(dataDir: string, settings: Readonly<Record<string, string>>, binary: string): Place {
  const real = realpathSync(dataDir);
  const title = `headrace-${sha256(real)}-`;
  const inside = join(real, 'postgres-socket');
  const fits = Buffer.byteLength(join(inside, `.s.PGSQL.${PORT}`)) <= SOCKET_PATH_MAX;
  return {
    dataDir: real,
    cluster: join(real, 'postgres'),
    // Not os.tmpdir(): two starts with different TMPDIR have to find the same server.
    socketDir: fits ? inside : `/tmp/headrace-${process.getuid?.() ?? 0}-${sha256(real)}`,
    log: join(real, 'postgres.log'),
    title,
    clusterName: title + sha256(JSON.stringify([settings, binary])),
  };
}

/**
 * Makes an empty 0700 socket folder that belongs to `uid`. Only called while no server of this place lives.
 */
export function makeSocketDir(place: Place, uid: number | null): void {
  const owner = uid ?? process.getuid!();
  const existing = lstatSync(place.socketDir, { throwIfNoEntry: false });
  // /tmp is everybody's: a folder that another user put there would let that user listen in our place.
  if (existing && (!existing.isDirectory() || ![owner, process.getuid!()].includes(existing.uid))) {
    throw new Error(`${place.socketDir} belongs to another user: remove it and start again.`);
  }
  rmSync(place.socketDir, { recursive: true, force: true });
  mkdirSync(place.socketDir, { mode: 0o700 });
  chmodSync(place.socketDir, 0o700);
  if (uid !== null) chownSync(place.socketDir, uid, uid);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
