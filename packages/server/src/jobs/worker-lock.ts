/**
 * The session lock by which other workers know that this one lives, on a separate connection. Other
 * workers find the lock free as soon as the process or its connection is gone.
 */
import type pg from 'pg';
import type { Db } from '../db/database.ts';
import { KEEP_ALIVE, TimedClient } from '../db/timed-client.ts';
import { insertWorker, recordHeartbeat, restoreWorker } from './store.ts';

const LOCK_TIMEOUT_MS = 2_000;
/** The server answers within its limit, or is gone. */
const UNANSWERED_MS = 500;
/**
 * A worker whose machine dies loses its lock after about 3 s, not after the kernel's two hours. A heartbeat that a crash of
 * the server takes is no loss, so none waits for the disk.
 */
const SETTINGS = `set tcp_keepalives_idle = 1; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 2; set synchronous_commit = off`;

export class WorkerLock {
  readonly #workerId: string;
  readonly #lockKey: number;
  readonly #connection: pg.PoolConfig;
  #client: pg.Client | null = null;

  private constructor(workerId: string, lockKey: number, connection: pg.PoolConfig) {
    this.#workerId = workerId;
    this.#lockKey = lockKey;
    this.#connection = connection;
  }

  /** Registers the worker and takes its lock. */
  static async take(db: Db, workerId: string, connection: pg.PoolConfig): Promise<WorkerLock> {
    const lock = new WorkerLock(workerId, await insertWorker(db, workerId), connection);
    await lock.#connect();
    return lock;
  }

  get isHeld(): boolean {
    return this.#client !== null;
  }

  /** Takes the lock again where it was lost; throws when that fails. Returns whether no older worker lives. */
  async beat(): Promise<boolean> {
    const client = this.#client ?? (await this.#connect());
    return recordHeartbeat(client, this.#workerId);
  }

  async release(): Promise<void> {
    await this.#client?.end().catch(() => {});
  }

  async #connect(): Promise<pg.Client> {
    // The server may keep the lock of a connection that broke for a while: a bounded wait, then the next
    // heartbeat tries.
    const client = new TimedClient({
      ...KEEP_ALIVE,
      ...this.#connection,
      connectionTimeoutMillis: LOCK_TIMEOUT_MS,
      statement_timeout: LOCK_TIMEOUT_MS,
      query_timeout: LOCK_TIMEOUT_MS + UNANSWERED_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(SETTINGS);
      await client.query('select pg_advisory_lock($1)', [this.#lockKey]);
      await restoreWorker(client, this.#workerId, this.#lockKey);
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    client.once('end', () => {
      if (this.#client === client) this.#client = null;
    });
    this.#client = client;
    return client;
  }
}
