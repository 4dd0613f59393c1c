/**
 * The publisher: the one process that moves committed rows of `outbox` into `events` and gives them their
 * sequence.
 *
 * Readers cannot use the outbox's ids as positions: a transaction that commits late has ids that cursors have
 * passed (measured with 16 writers: 14.6% of the events were never seen). Sequences given after the commit
 * leave none out.
 *
 *   waiting --session lock taken--> publishing --connection or lock lost--> waiting
 *
 * The lock and the writes share one connection: when it is gone, so are both, and nothing is published
 * without the lock.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, PoolConfig } from 'pg';
import type { Context } from '../context.ts';
import { PUBLISHER_LOCK, SECRET_KEY_LOCK } from '../db/advisory-locks.ts';
import { KEEP_ALIVE, TimedClient } from '../db/timed-client.ts';
import { Rest } from '../jobs/rest.ts';
import { keyNumber } from '../sealing.ts';
import { Floor } from './floor.ts';
import { createPartitions, expireEvents } from './partitions.ts';
import { followTimeline, PUBLISH_BATCH, publishBatch } from './store.ts';

const RIVAL_POLL_MS = 400;
const OUTBOX_POLL_MS = 200;
/**
 * Batches begin this far apart: one costs about as much for one event as for ten. The first after a silence
 * waits for nothing.
 */
const PACE_MS = 5;
/**
 * A holder whose machine is gone loses the lock in about 3 s, not in the kernel's two hours. The outbox is
 * read by its index: it is empty whenever it is analyzed, so the planner would walk all of its pages, those
 * of dead rows too (50,000: 8 ms a batch against 0.3).
 */
const SETTINGS = `
  set tcp_keepalives_idle = 1; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 2;
  set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off`;

type Deps = Pick<Context, 'db' | 'bus' | 'log' | 'config' | 'secretKey'>;

/** Publishes whenever this process holds the lock; until then it looks for it twice a second. */
export class Publisher {
  readonly #ctx: Deps;
  readonly #connection: PoolConfig;
  readonly #stopped = new AbortController();
  readonly #unlisten: () => void;
  readonly #running: Promise<void>;
  #isHolder = false;
  readonly #rest = new Rest();

  constructor(ctx: Deps, connection: PoolConfig) {
    this.#ctx = ctx;
    this.#connection = connection;
    this.#unlisten = ctx.bus.listen('outbox', () => {
      if (this.#isHolder) this.#rest.wake();
    });
    this.#running = this.#run();
  }

  /** Whether this process publishes now. */
  isPublishing(): boolean {
    return this.#isHolder;
  }

  /** Ends after the batch under way; another process takes over. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#unlisten();
    this.#rest.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped()) {
      await this.#attend().catch(async (error: unknown) => {
        this.#ctx.log.warn({ err: error }, 'the publisher lost its connection');
        await this.#rest.take(RIVAL_POLL_MS);
      });
    }
  }

  /** Waits for the lock and publishes, on one connection. */
  async #attend(): Promise<void> {
    const client = new TimedClient({
      ...KEEP_ALIVE,
      ...this.#connection,
      connectionTimeoutMillis: 5_000,
      statement_timeout: 10_000,
      query_timeout: 15_000,
      application_name: `headrace-publisher ${process.pid}`,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(SETTINGS);
      // Every process has this connection: a change of the secret key sees which ones seal with another.
      await client.query('select pg_advisory_lock_shared($1, $2)', [
        SECRET_KEY_LOCK,
        keyNumber(this.#ctx.secretKey),
      ]);
      while (!this.#isStopped() && !(await takeLock(client))) await this.#rest.take(RIVAL_POLL_MS);
      this.#isHolder = !this.#isStopped();
      if (this.#isHolder) await this.#publish(client);
    } finally {
      this.#isHolder = false;
      await client.end().catch(() => {});
    }
  }

  async #publish(client: Client): Promise<void> {
    if (await followTimeline(client)) {
      this.#ctx.log.warn(
        'the database is on another timeline: cursors from before it expire, as the log may have lost its end',
      );
      this.#ctx.bus.notify('events');
    }
    // Before the first event: a row in the default partition prevents a partition for its day. The partitions
    // of the days ahead do not delay the first event: a dump may block them.
    await createPartitions(this.#ctx.db, 0).catch((error: unknown) =>
      this.#ctx.log.warn({ err: error }, 'partitions of the log could not be made ahead'),
    );
    const maintenance = new AbortController();
    const expiring = expireEvents(this.#ctx, maintenance.signal);
    try {
      await this.#publishBatches(client);
    } finally {
      maintenance.abort();
      await expiring;
    }
  }

  async #publishBatches(client: Client): Promise<void> {
    const floor = new Floor();
    while (!this.#isStopped()) {
      const began = performance.now();
      await floor.look(client);
      const count = await publishBatch(client, floor.id);
      if (count > 0) this.#ctx.bus.notify('events');
      if (count === PUBLISH_BATCH) continue;
      floor.rise();
      await this.#rest.take(OUTBOX_POLL_MS);
      const early = began + PACE_MS - performance.now();
      if (early > 0) await sleep(early);
    }
  }

  #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }
}

async function takeLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [
    PUBLISHER_LOCK,
  ]);
  return rows[0]!.held;
}
