/**
 * Where unix sockets lie: in a short path, as one has at most 107 bytes, and in a folder of this account
 * alone, as whoever else can write there could listen in our place.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const LONGEST_SOCKET_PATH = 107;
/** Room for the name of a socket. */
const LONGEST_NAME = 48;

/** The folder for the sockets of a data folder: the same for each process that finds the same folders. */
export function socketFolder(dataDir: string): string {
  const { uid } = userInfo();
  return firstSafe([
    join(tmpdir(), `headrace-${uid}`),
    join('/run/user', String(uid), 'headrace'),
    join(dataDir, 'sockets'),
  ]);
}

/** The data folder's name among the sockets of several. */
export const socketName = (dataDir: string): string =>
  createHash('sha256').update(dataDir).digest('hex').slice(0, 16);

/** The first of these folders that is this account's alone, or can be made so. Throws where none is. */
export function firstSafe(folders: string[]): string {
  const found = folders.find(
    (folder) => Buffer.byteLength(folder) + LONGEST_NAME <= LONGEST_SOCKET_PATH && isSafe(folder),
  );
  if (found === undefined)
    throw new Error(
      `No folder for sockets: none of ${folders.join(', ')} is short and belongs to this user alone (mode 0700). Set TMPDIR to one that is.`,
    );
  return found;
}

function isSafe(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Of a link it is the link's own owner: links are not followed.
    const { uid, mode } = lstatSync(folder);
    return (mode & 0o170_077) === 0o040_000 && uid === userInfo().uid;
  } catch {
    return false;
  }
}
