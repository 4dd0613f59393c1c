import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { PreparingClient } from './prepared.ts';
import type { Database } from './schema.ts';
import { KEEP_ALIVE, TimedClient } from './timed-client.ts';

export type Db = Kysely<Database>;

// bigint columns are counters up to 2^53 - 1: numbers, not strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export interface DatabaseHandle {
  db: Db;
  pool: pg.Pool;
  connection: pg.PoolConfig;
  close(): Promise<void>;
}

/**
 * A pool that outlives its server. A broken connection is replaced at its next use; without listeners it
 * would end the process. The pool listens to idle ones only: one that breaks between two statements of a
 * transaction says so with no caller waiting for an answer.
 */
export function openPool(config: pg.PoolConfig): pg.Pool {
  return new pg.Pool({ Client: TimedClient, ...KEEP_ALIVE, ...config })
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

/** How long a statement may take. The client's limit is for a server that is gone: it would hold up requests for minutes. */
const STATEMENT_MS = 30_000;
const UNANSWERED_MS = 5_000;
const IDLE_IN_TRANSACTION_MS = 60_000;

interface PoolLimits {
  /** The most connections. */
  max?: number;
  statementMs?: number;
}

/**
 * Opens a pool; every statement is bounded in time, so that no request hangs on a lost server. Poolers refuse settings
 * in the start-up message, so they are statements.
 */
export function openDatabase(
  connection: pg.PoolConfig,
  { max = 10, statementMs = STATEMENT_MS }: PoolLimits = {},
): DatabaseHandle {
  const pool = openPool({
    Client: PreparingClient,
    ...connection,
    max,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    query_timeout: statementMs + UNANSWERED_MS,
  });
  const settings = `set statement_timeout = ${statementMs}; set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}; ${PLANNING}`;
  // What breaks here fails the connection's first statement too.
  pool.on('connect', (client) => void client.query(settings).catch(() => {}));
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return { db, pool, connection, close: () => db.destroy() };
}
