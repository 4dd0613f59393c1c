/**
 * The publisher: the one process that moves committed rows of `outbox` into `events` and gives them their
 * sequence.
 *
 * Why not read the outbox by its id: a transaction that commits late stands behind cursors that have passed
 * its ids (measured with 16 writers: 14.6% of the events were never seen). Sequences given after the commit
 * leave none out.
 *
 *   waiting --session lock taken--> publishing --connection or lock lost--> waiting
 *
 * The lock and the writes share one connection: when it is gone, so are both, and nothing is published
 * without the lock.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { PoolConfig } from 'pg';
import type { Context } from '../context.ts';
import { PUBLISHER_LOCK } from '../db/advisory-locks.ts';
import { Floor } from './floor.ts';
import { createPartitions, expireEvents } from './partitions.ts';

const RIVAL_POLL_MS = 400;
const OUTBOX_POLL_MS = 200;
/**
 * Batches begin this far apart: one costs about as much for one event as for ten. The first after a silence
 * waits for nothing.
 */
const PACE_MS = 5;
const BATCH = 500;

/**
 * One statement, so one snapshot and one transaction. A transaction's events stay together, in their order:
 * `xmin` tells whose a row is, and its first id where it stands. A cause's rows are committed before its
 * effect's get their ids.
 */
const PUBLISH = `
  with batch as (
    select o.*, min(o.id) over (partition by o.writer) as first_id from (select *, xmin::text as writer from outbox where id > $1 order by id limit ${BATCH}) o
  ), gone as (
    delete from outbox using batch where outbox.id = batch.id
  ), state as (
    update log_state set
      last_sequence = last_sequence + (select count(*) from batch),
      last_published_at = greatest(last_published_at, clock_timestamp(), (select max(occurred_at) from batch))
    where exists (select 1 from batch)
    returning last_sequence, last_published_at
  )
  insert into events (org_id, sequence, event_id, feed, type, project_id, thread_id, run_id, data, occurred_at, published_at)
  select b.org_id, s.last_sequence - count(*) over () + row_number() over (order by b.first_id, b.id), b.event_id, b.feed, b.type, b.project_id, b.thread_id, b.run_id, b.data, b.occurred_at, s.last_published_at
  from batch b cross join state s`;

/**
 * A holder whose machine is gone loses the lock in about 3 s, not in the kernel's two hours. And the outbox
 * is read by its index: it is empty whenever it is analyzed, so that the planner would walk all of its
 * pages, those of the dead rows too (50,000: 8 ms a batch against 0.3).
 */
const SETTINGS = `
  set tcp_keepalives_idle = 1; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 2;
  set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off`;

export interface Publisher {
  /** Whether this process publishes now. */
  isPublishing(): boolean;
  /** Ends after the batch under way; another process takes over. */
  stop(): Promise<void>;
}

type Deps = Pick<Context, 'db' | 'bus' | 'log' | 'config'>;

/** Publishes whenever this process holds the lock; until then it looks for it twice a second. */
export function startPublisher(ctx: Deps, connection: PoolConfig): Publisher {
  const stopped = new AbortController();
  let isHolder = false;
  let wake: () => void = () => {};
  let isWoken = false;
  const nudge = () => {
    isWoken = true;
    wake();
  };
  /** Until the next wake-up, at most `ms`. */
  async function rest(ms: number): Promise<void> {
    if (!isWoken && !stopped.signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    isWoken = false;
  }
  const unlisten = ctx.bus.listen('outbox', () => {
    if (isHolder) nudge();
  });

  async function hold(client: Client): Promise<boolean> {
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [
      PUBLISHER_LOCK,
    ]);
    return rows[0]!.held;
  }

  async function publish(client: Client): Promise<void> {
    // Before the first event: what went into the default partition keeps its day out of a partition of its
    // own. Those of the days ahead wait for no event: a dump that is being taken may hold them up.
    await createPartitions(ctx.db, 0).catch((error: unknown) =>
      ctx.log.warn({ err: error }, 'partitions of the log could not be made ahead'),
    );
    const maintenance = new AbortController();
    const expiring = expireEvents(ctx, maintenance.signal);
    const floor = new Floor();
    try {
      while (!stopped.signal.aborted) {
        const began = performance.now();
        await floor.look(client);
        const { rowCount } = await client.query({ name: 'publish', text: PUBLISH, values: [floor.id] });
        if (rowCount) ctx.bus.notify('events');
        if (rowCount === BATCH) continue;
        floor.rise();
        await rest(OUTBOX_POLL_MS);
        const early = began + PACE_MS - performance.now();
        if (early > 0) await sleep(early);
      }
    } finally {
      maintenance.abort();
      await expiring;
    }
  }

  async function attend(): Promise<void> {
    const client = new Client({
      ...connection,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      statement_timeout: 10_000,
      query_timeout: 15_000,
      application_name: `headrace-publisher ${process.pid}`,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(SETTINGS);
      while (!stopped.signal.aborted && !(await hold(client))) await rest(RIVAL_POLL_MS);
      isHolder = !stopped.signal.aborted;
      if (isHolder) await publish(client);
    } finally {
      isHolder = false;
      await client.end().catch(() => {});
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await attend().catch(async (error: unknown) => {
        ctx.log.warn({ err: error }, 'the publisher lost its connection');
        await rest(RIVAL_POLL_MS);
      });
    }
  }

  const running = run();
  return {
    isPublishing: () => isHolder,
    async stop() {
      stopped.abort();
      unlisten();
      nudge();
      await running;
    },
  };
}
