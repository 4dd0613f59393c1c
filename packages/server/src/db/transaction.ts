/**
 * One transaction holds state, event, job and receipt. Events are buffered here and written in one statement just before COMMIT,
 * when all locks are held: the outbox's identity order is then causal order. Wake-ups go out after the commit.
 */
import type { Insertable, Transaction } from 'kysely';
import type { Bus, Channel } from '../bus.ts';
import { newId } from '../ids.ts';
import { json } from './schema.ts';
import type { Database, OperationsTable } from './schema.ts';
import type { Db } from './database.ts';

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
  receipt?: Insertable<OperationsTable>;
  /** Runs after COMMIT, in order; must not throw. */
  afterCommit: (() => void)[];
  /** Sends a wake-up after COMMIT. */
  wake(channel: Channel, payload?: string): void;
}

const RETRIED = new Set(['40001', '40P01']);
const ATTEMPTS = 4;

/**
 * Runs `work` in a transaction and commits. Anything thrown rolls back and is thrown on. A deadlock or serialization failure
 * is run again, at most three times: `work` must have no effect outside of `tx`.
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
    const tx: Tx = { db, events: [], afterCommit, wake: (channel, payload = '') => { wakes.set(`${channel} ${payload}`, [channel, payload]); } };
    const value = await work(tx);
    await flush(tx);
    return value;
  });
  for (const [channel, payload] of wakes.values()) ctx.bus.notify(channel, payload);
  for (const call of afterCommit) call();
  return result;
}

/** Events and receipt, in one round trip for both. */
async function flush({ db, events, receipt, wake }: Tx): Promise<void> {
  const rows = events.map((e) => ({ event_id: e.id, org_id: e.orgId, feed: e.feed, type: e.type, project_id: e.projectId, thread_id: e.threadId, run_id: e.runId, data: json(e.data) }));
  if (rows.length && receipt) await db.with('receipt', (q) => q.insertInto('operations').values(receipt)).insertInto('outbox').values(rows).execute();
  else if (rows.length) await db.insertInto('outbox').values(rows).execute();
  else if (receipt) await db.insertInto('operations').values(receipt).execute();
  if (rows.length) wake('outbox');
}

/** Adds an event to the transaction; returns its id. */
export function appendEvent(tx: Tx, scope: EventScope, type: string, data: Record<string, unknown>, at: { threadId?: string | null; runId?: string | null } = {}): string {
  const id = newId('evt');
  tx.events.push({ ...scope, id, type, data, threadId: at.threadId ?? null, runId: at.runId ?? null });
  return id;
}
