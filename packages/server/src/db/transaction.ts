/**
 * One transaction holds state, event, job and receipt. Events are buffered here and written in one
 * statement just before COMMIT, when all locks are held: the outbox's identity order is then causal order.
 * Wake-ups go out after the commit.
 */
import { CompiledQuery } from 'kysely';
import type { Transaction } from 'kysely';
import type { Bus, Channel } from '../bus.ts';
import { newId } from '../ids.ts';
import { prepared } from './prepared.ts';
import type { Database } from './schema.ts';
import type { Db } from './database.ts';

/** A settled receipt as a transaction stores it; see receipts/receipts.ts. */
export interface SettledReceipt {
  orgId: string;
  id: string;
  actorId: string;
  key: string;
  fingerprint: Buffer;
  method: string;
  path: string;
  projectId: string | null;
  permissions: string[];
  published: boolean;
  responseStatus: number;
  response: string;
  responseSealed: Buffer | null;
}

/** Where an event is published: an app's feed and the all-apps feed, or the Direct feed. */
export interface EventScope {
  orgId: string;
  projectId: string | null;
  feed: 'platform' | 'direct';
}

interface PendingEvent extends EventScope {
  id: string;
  type: string;
  threadId: string | null;
  runId: string | null;
  data: Record<string, unknown>;
}

export interface Tx {
  db: Transaction<Database>;
  /** Buffered until just before COMMIT; see appendEvent. */
  events: PendingEvent[];
  /** The settled receipt of the write: inserted with its events, in the same statement. */
  receipt?: SettledReceipt;
  /** Runs after COMMIT, in order; must not throw. */
  afterCommit: (() => void)[];
  /** Sends a wake-up after COMMIT. */
  wake(channel: Channel, payload?: string): void;
}

const RETRIED = new Set(['40001', '40P01']);
const ATTEMPTS = 4;

/**
 * Runs `work` in a transaction and commits. Anything thrown rolls back and is thrown on. A deadlock or
 * serialization failure is run again, at most three times: `work` must have no effect outside of `tx`.
 */
export async function transaction<T>(ctx: { db: Db; bus: Bus }, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(ctx, work);
    } catch (error) {
      if (attempt >= ATTEMPTS || !RETRIED.has((error as { code?: string }).code ?? '')) throw error;
    }
  }
}

async function once<T>(ctx: { db: Db; bus: Bus }, work: (tx: Tx) => Promise<T>): Promise<T> {
  const afterCommit: (() => void)[] = [];
  const wakes = new Map<string, [Channel, string]>();
  const result = await ctx.db.transaction().execute(async (db) => {
    const tx: Tx = {
      db,
      events: [],
      afterCommit,
      wake: (channel, payload = '') => {
        wakes.set(`${channel} ${payload}`, [channel, payload]);
      },
    };
    const value = await work(tx);
    await flush(tx);
    return value;
  });
  for (const [channel, payload] of wakes.values()) ctx.bus.notify(channel, payload);
  for (const call of afterCommit) call();
  return result;
}

/**
 * Seven days are promised; both times are the database's. Not much longer: an answer may have contents of
 * what was deleted since.
 */
const INSERT_RECEIPT = `
  insert into operations (org_id, id, actor_id, idempotency_key, fingerprint, method, path, project_id, permissions, published, response_status, response, response_sealed, status, settled_at, reserved_until)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, case when $11 < 400 then 'succeeded' else 'failed' end, clock_timestamp(), now() + interval '7 days 1 hour')`;
const EVENT_COLUMNS = 8;
const insertEvents = (count: number, first: number) =>
  `insert into outbox (event_id, org_id, feed, type, project_id, thread_id, run_id, data) values ${Array.from(
    { length: count },
    (_, row) =>
      `(${Array.from({ length: EVENT_COLUMNS }, (_, column) => `$${first + row * EVENT_COLUMNS + column}`).join(', ')})`,
  ).join(', ')}`;

/** By the number of events; more of them than this are rare, and a statement of their own. */
const MOST_PREPARED = 8;
/** A statement takes at most 65,535 values. */
const MOST_AT_ONCE = 4_000;
const flushing = Array.from({ length: MOST_PREPARED + 1 }, (_, count) => ({
  events: prepared(`insert_events_${count}`, insertEvents(count, 1)),
  receipt: prepared(
    `insert_receipt_${count}`,
    count ? `with receipt as (${INSERT_RECEIPT}) ${insertEvents(count, 14)}` : INSERT_RECEIPT,
  ),
}));

/**
 * What long polls wait for, by their ids: to wake them all for each event of anybody would ask the database
 * for each of them each time.
 */
const WAITED_FOR = /^(run|preview|pull_request|automation\.execution|platform\.(apply|build))\./;

/** Events and receipt, in one round trip for both. */
async function flush({ db, events, receipt, wake }: Tx): Promise<void> {
  const isMany = events.length > MOST_PREPARED;
  const rows = events.flatMap((e) => [
    e.id,
    e.orgId,
    e.feed,
    e.type,
    e.projectId,
    e.threadId,
    e.runId,
    JSON.stringify(e.data),
  ]);
  if (receipt)
    await db.executeQuery(
      flushing[isMany ? 0 : events.length]!.receipt([...receiptValues(receipt), ...(isMany ? [] : rows)]),
    );
  else if (events.length && !isMany) await db.executeQuery(flushing[events.length]!.events(rows));
  if (isMany) await insertMany(db, rows);
  if (events.length) wake('outbox');
  for (const { type, data } of events) if (WAITED_FOR.test(type)) wake('resources', String(data.id));
}

async function insertMany(db: Tx['db'], rows: readonly unknown[]): Promise<void> {
  const step = MOST_AT_ONCE * EVENT_COLUMNS;
  for (let from = 0; from < rows.length; from += step) {
    const some = rows.slice(from, from + step);
    await db.executeQuery(CompiledQuery.raw(insertEvents(some.length / EVENT_COLUMNS, 1), some));
  }
}

const receiptValues = (r: SettledReceipt) => [
  r.orgId,
  r.id,
  r.actorId,
  r.key,
  r.fingerprint,
  r.method,
  r.path,
  r.projectId,
  r.permissions,
  r.published,
  r.responseStatus,
  r.response,
  r.responseSealed,
];

/** Adds an event to the transaction; returns its id. */
export function appendEvent(
  tx: Tx,
  at: EventScope & { threadId?: string | null; runId?: string | null },
  type: string,
  data: Record<string, unknown>,
): string {
  const id = newId('evt');
  tx.events.push({ ...at, id, type, data, threadId: at.threadId ?? null, runId: at.runId ?? null });
  return id;
}
