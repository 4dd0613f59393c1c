import { placeOf } from '../../../packages/server/src/db/embedded/place.ts';
import { findProcesses } from '../../../packages/server/src/db/embedded/processes.ts';

/**
 * `kill -9` of the server of one of our data folders. Returns a function that says whether another one runs
 * in its place.
 */
export function killPostmaster(dataDir: string): () => boolean {
  const place = placeOf(dataDir, {}, '');
  const { postmaster } = findProcesses(place);
  if (postmaster === null) throw new Error(`No PostgreSQL runs in ${dataDir}.`);
  process.kill(postmaster, 'SIGKILL');
  return () => ![null, postmaster].includes(findProcesses(place).postmaster);
}
