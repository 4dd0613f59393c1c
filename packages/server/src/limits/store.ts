/**
 * The windows in PostgreSQL. On connections of their own, few and impatient: neither slow work nor a
 * database that hangs may hold up what every request passes.
 */
import type pg from 'pg';
import { openPool } from '../db/database.ts';
import { emptyAt, renew } from './window.ts';
import type { Renewal, Renewed, Shares } from './window.ts';

const CONNECTIONS = 2;
const PATIENCE_MS = 3_000;
const PURGE_BATCH = 5_000;
/**
 * A count that a crash of the database's machine loses is reported again by the process that made it. The settings are
 * the transaction's alone: a pooler gives the connection to other work afterwards.
 */
const BEGIN = `begin; set local synchronous_commit = off; set local statement_timeout = ${PATIENCE_MS}`;

export interface WindowStore {
  /**
   * Reports and leases in one transaction; `now` is the database's clock in ms. Throws where the database
   * does not answer within a few seconds.
   */
  renew(
    bucket: string,
    renewal: Renewal,
    limit: number,
    windowMs: number,
  ): Promise<Renewed & { now: number }>;
  /** Forgets windows in which nothing counts. */
  purge(): Promise<void>;
  close(): Promise<void>;
}

export function openWindowStore(connection: pg.PoolConfig): WindowStore {
  const pool = openPool({
    ...connection,
    max: CONNECTIONS,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
    idleTimeoutMillis: 30_000,
    application_name: 'headrace-limits',
  });

  async function locked(client: pg.PoolClient, bucket: string): Promise<{ shares: Shares; now: number }> {
    const NOW = '(extract(epoch from clock_timestamp()) * 1000)::float8 as now';
    const {
      rows: [row],
    } = await client.query<{ shares: Shares; now: number }>({
      name: 'rate-lock',
      text: `select shares, ${NOW} from rate_windows where bucket = $1 for update`,
      values: [bucket],
    });
    if (row) return row;
    const {
      rows: [made],
    } = await client.query<{ shares: Shares; now: number }>(
      `insert into rate_windows (bucket, shares, expires_at) values ($1, '{}', now()) on conflict (bucket) do update set bucket = excluded.bucket returning shares, ${NOW}`,
      [bucket],
    );
    return made!;
  }

  return {
    async renew(bucket, renewal, limit, windowMs) {
      const client = await pool.connect();
      let failure: Error | undefined;
      try {
        await client.query(BEGIN);
        const { shares, now } = await locked(client, bucket);
        const renewed = renew(shares, renewal, { now, limit, windowMs });
        await client.query({
          name: 'rate-write',
          text: 'update rate_windows set shares = $2, expires_at = to_timestamp($3::float8 / 1000) where bucket = $1',
          values: [bucket, JSON.stringify(renewed.shares), emptyAt(renewed.shares, now, windowMs)],
        });
        await client.query('commit');
        return { ...renewed, now };
      } catch (error) {
        failure = error as Error;
        throw error;
      } finally {
        // A connection in an unknown state is closed, which rolls back.
        client.release(failure);
      }
    },
    async purge() {
      await pool.query(
        'delete from rate_windows where bucket in (select bucket from rate_windows where expires_at < now() limit $1 for update skip locked)',
        [PURGE_BATCH],
      );
    },
    close: () => pool.end(),
  };
}
