/**
 * Readers of the log inside the service. Each has a named position, which moves in the transaction that stores its
 * results, so each event is taken once, in the log's order, by any process. The log keeps events that its readers have
 * not taken (partitions.ts), within a bound.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import type { ConsumerName, EventRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { hasMore, moveConsumer, readAll, takePosition } from './store.ts';
import { positionOf } from './view.ts';

/** The interval without hints: it bounds the cost of a lost hint and of another process's death. */
const POLL_MS = 500;
const BATCH = 500;
/** How long a caller waits for a reader, and how often it looks. */
const CAUGHT_UP_MS = 1_000;
const LOOK_MS = 10;

export interface Consumer {
  name: ConsumerName;
  /**
   * SQL, true while no event of the log concerns this reader: it costs one statement then, where a batch costs a
   * transaction. It sees what was committed before the last event was published.
   */
  idleWhen: string;
  /**
   * Takes the next events of all organizations and feeds, in order, at most `BATCH`. It has no effect outside of
   * `tx`: a failed batch is taken again.
   */
  take(tx: Tx, events: readonly EventRow[]): Promise<void>;
}

type Deps = Pick<Context, 'db' | 'bus' | 'log' | 'shutdown'>;

export interface Consuming {
  stop(): Promise<void>;
}

/** Makes this process read on when the log grows, unless another process is reading. */
export function startConsumer(ctx: Deps, consumer: Consumer, when?: When): Consuming {
  let isNewer = false;
  const loop = every(
    POLL_MS,
    async () => {
      isNewer = true;
      while (isNewer && !ctx.shutdown.aborted) {
        isNewer = false;
        while (!ctx.shutdown.aborted && (await hasMore(ctx.db, consumer.name, consumer.idleWhen))) {
          if ((await takeBatch(ctx, consumer)) === 0) break;
        }
      }
    },
    {
      onFailure: (err) =>
        ctx.log.error({ err, consumer: consumer.name }, 'events were not taken; they are taken again'),
      until: ctx.shutdown,
      when,
    },
  );
  const unlisten = ctx.bus.listen('events', () => {
    isNewer = true;
    loop.runNow();
  });
  loop.runNow();
  return {
    async stop() {
      unlisten();
      await loop.stop();
    },
  };
}

/** Takes the next batch. Returns how many events; 0 also where another process takes them. */
export function takeBatch(
  ctx: Pick<Context, 'db' | 'bus'>,
  consumer: Pick<Consumer, 'name' | 'take'>,
): Promise<number> {
  return transaction(ctx, async (tx) => {
    const position = await takePosition(tx, consumer.name);
    if (!position) return 0;
    const { rows, end } = await readAll(tx.db, position.sequence, position.published_at, BATCH);
    if (rows.length) await consumer.take(tx, rows);
    // What the log had behind the position, and has no more, is past twice the retention.
    const passed = { sequence: end.sequence, time: position.published_at.getTime() };
    const last = rows.length ? positionOf(rows.at(-1)!) : passed;
    if (last.sequence > position.sequence) await moveConsumer(tx, consumer.name, last);
    return rows.length;
  });
}

/**
 * Waits until a reader has taken all events that were committed before the call, at most a second. A change of how it
 * processes events then applies only to later ones.
 */
export async function caughtUp({ db }: { db: Db }, name: ConsumerName): Promise<void> {
  const { rows } = await sql<{ last: number | null }>`select max(id) as last from outbox`.execute(db);
  const last = rows[0]!.last ?? 0;
  const until = performance.now() + CAUGHT_UP_MS;
  for (let goal: number | null = null; performance.now() < until;) {
    const { rows: now } = await sql<{ waits: boolean; end: number; at: number }>`
      select exists (select from outbox where id <= ${last}) as waits, s.last_sequence as end, c.sequence as at
      from log_state s, log_consumers c where c.name = ${name}`.execute(db);
    const { waits, end, at } = now[0]!;
    if (!waits) goal ??= end;
    if (goal !== null && at >= goal) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
