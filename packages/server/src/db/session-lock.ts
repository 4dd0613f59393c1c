import pg from 'pg';
import { KEEP_ALIVE } from './timed-client.ts';

const CONNECT_MS = 5_000;
const STATEMENT_MS = 10_000;

interface SessionLock {
  /** A direct connection: behind a pooler another client would get the lock too. */
  connection: pg.PoolConfig;
  key: number;
  isShared?: boolean;
}

/**
 * Does `work` under a session lock that has a connection of its own, which frees it. Undefined, and nothing done, if
 * another process holds the lock.
 */
export async function withSessionLock<T>(
  { connection, key, isShared = false }: SessionLock,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const client = new pg.Client({
    ...KEEP_ALIVE,
    ...connection,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ held: boolean }>(
      `select ${isShared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock'}($1) as held`,
      [key],
    );
    return rows[0]!.held ? await work() : undefined;
  } finally {
    await client.end().catch(() => {});
  }
}
