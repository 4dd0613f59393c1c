import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { PreparingClient } from './prepared.ts';
import type { Database } from './schema.ts';

export type Db = Kysely<Database>;

// bigint columns are counters up to 2^53 - 1: numbers, not strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export interface DatabaseHandle {
  db: Db;
  pool: pg.Pool;
  /** For clients of their own: LISTEN and session locks need a direct connection. */
  connection: pg.PoolConfig;
  close(): Promise<void>;
}

/**
 * A pool that outlives its server. A broken connection is replaced at its next use; without listeners it
 * would end the process. The pool listens to idle ones only: one that breaks between two statements of a
 * transaction says so with no caller waiting for an answer.
 */
export function openPool(config: pg.PoolConfig): pg.Pool {
  return new pg.Pool(config)
    .on('error', () => {})
    .on('connect', (client) => {
      client.on('error', () => {});
    });
}

/**
 * A named statement keeps its plan. One that was made while a table had a page of rows reads all of the table
 * until PostgreSQL analyzes it again. Every table that grows has an index for each statement, so the planner
 * is kept from sequential scans where there is another way. A scan that it must do then looks so expensive that a
 * server with JIT would compile the statement first, each time: 230 ms for a page of events.
 */
const PLANNING = 'set enable_seqscan = off; set jit = off';

/**
 * Opens a pool. `max` connections; every statement is bounded in time, so that no request hangs on a lost
 * server.
 */
export function openDatabase(connection: pg.PoolConfig, max = 24): DatabaseHandle {
  const pool = openPool({
    ...connection,
    Client: PreparingClient,
    max,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 60_000,
  });
  // What breaks here fails the connection's first statement too.
  pool.on('connect', (client) => void client.query(PLANNING).catch(() => {}));
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return { db, pool, connection, close: () => db.destroy() };
}
