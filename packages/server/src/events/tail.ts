/**
 * Each API process reads the log once, as it grows, and hands every event to its streams and long polls in
 * memory. The bus wakes it; it also looks by itself, so that a lost hint costs a fraction of a second and
 * no event.
 */
import type { PoolConfig } from 'pg';
import type { Context } from '../context.ts';
import { openDatabase } from '../db/database.ts';
import type { EventRow } from '../db/schema.ts';
import { readAll, readEnd } from './store.ts';
import type { Position } from './store.ts';
import { positionOf } from './view.ts';

const POLL_MS = 250;
const BATCH = 500;

type Listener = (events: readonly EventRow[]) => void;

export interface Tail {
  /**
   * `listener` gets, from now on, every event behind `position()`, in order, once. Subscribe, then read the
   * log: the listener gets what the read's snapshot does not hold. Returns the function that ends it.
   */
  subscribe(listener: Listener): () => void;
  /** How far the tail has read, with the database's time of that read. */
  position(): Position;
  /** Of the log; `onGeneration` is called when it has changed, and what follows is of the new one. */
  generation(): number;
  stop(): void;
}

/**
 * On a separate connection: streams go on while requests hold all of the pool's. Its statement is planned
 * once for all partitions (0.2 ms a read, against 0.6 planned each time, several hundred times a second).
 */
export async function startTail(
  ctx: Pick<Context, 'bus' | 'log' | 'metrics'>,
  connection: PoolConfig,
  onGeneration: () => void,
): Promise<Tail> {
  const { db, close } = openDatabase(
    { ...connection, options: '-c plan_cache_mode=force_generic_plan' },
    { max: 1 },
  );
  const listeners = new Set<Listener>();
  const start = await readEnd(db);
  let position: Position = start;
  let since = start.publishedAt;
  let { generation } = start;
  let isReading = false;
  let readAgain = false;
  const stopped = new AbortController();

  async function step(): Promise<boolean> {
    const { rows, end } = await readAll(db, position.sequence, since, BATCH);
    if (end.generation !== generation) {
      // What is behind `position` now is another log's, and that log may end before it.
      const now = await readEnd(db);
      generation = now.generation;
      position = now;
      since = now.publishedAt;
      onGeneration();
      return false;
    }
    const isWhole = rows.length < BATCH;
    position = isWhole ? end : positionOf(rows.at(-1)!);
    since = rows.at(-1)?.published_at ?? since;
    // Both times are the database's.
    for (const { occurred_at: at } of rows)
      ctx.metrics.observe('headrace_event_lag_seconds', {}, Math.max(0, end.time - at.getTime()) / 1000);
    if (rows.length) for (const listener of listeners) listener(rows);
    return isWhole;
  }

  async function read(): Promise<void> {
    if (isReading) {
      readAgain = true;
      return;
    }
    isReading = true;
    try {
      do {
        readAgain = false;
        while (!stopped.signal.aborted && !(await step()));
      } while (readAgain && !stopped.signal.aborted);
    } catch (error) {
      ctx.log.debug({ err: error }, 'the log could not be read; it is tried again');
    } finally {
      isReading = false;
    }
  }

  const unlisten = ctx.bus.listen('events', () => void read());
  const timer = setInterval(() => void read(), POLL_MS);
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    position: () => position,
    generation: () => generation,
    stop() {
      stopped.abort();
      clearInterval(timer);
      unlisten();
      void close();
    },
  };
}
