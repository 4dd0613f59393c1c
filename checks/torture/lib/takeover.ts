/** Has a worker that was stopped taken for dead. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

const LOOK_MS = 20;

/**
 * Breaks the connection by which a silent worker holds its lock, as soon as one is, and waits until the others have forgotten it:
 * its jobs are theirs. False where that does not happen within `limitMs`.
 */
export async function takeOverSilent(
  table: pg.Client,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal },
): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  let id: string | undefined;
  for (; Date.now() < deadline; await sleep(LOOK_MS, undefined, { signal })) {
    if (id === undefined) {
      const { rows } = await table.query<{ id: string }>(`
        select w.id, pg_terminate_backend(l.pid) from workers w join pg_locks l on l.locktype = 'advisory' and l.granted and (l.classid::bigint << 32 | l.objid::bigint) = w.lock_key
        where w.heartbeat_at < now() - interval '1.3 seconds' limit 1`);
      id = rows[0]?.id;
    } else if ((await table.query('select from workers where id = $1', [id])).rowCount === 0) return true;
  }
  return false;
}
