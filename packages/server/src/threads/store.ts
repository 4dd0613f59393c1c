import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RunRow, ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { ThreadWork } from './state.ts';

/** What runs and waits in a thread, in one round trip. */
export async function threadWork(db: Db | Tx['db'], threadId: string): Promise<ThreadWork> {
  const { rows } = await sql<{ active: 'running' | 'waiting' | null; queued: number }>`
    select max(status) filter (where status in ('running', 'waiting')) as active, count(*) filter (where status = 'queued') as queued
    from runs where thread_id = ${threadId} and status in ('queued', 'running', 'waiting')`.execute(db);
  return { active: rows[0]!.active, queuedRuns: rows[0]!.queued };
}

/** A thread with what its response tells of its run and its open questions. */
export interface ThreadDetails {
  thread: ThreadRow;
  run: RunRow | null;
  queuedRuns: number;
  isHeld: boolean;
  pendingApprovals: string[];
}

/** A run's columns are null where the thread has none. */
type DetailsRow = {
  of_thread: string;
  queued_runs: number;
  is_held: boolean | null;
  pending_approvals: string[] | null;
} & (RunRow | { id: null });

/**
 * The threads' details in one query. The run: the active one, else the oldest queued, else the last ended.
 */
export async function threadDetails(db: Db | Tx['db'], threads: ThreadRow[]): Promise<ThreadDetails[]> {
  if (!threads.length) return [];
  const { rows } = await sql<DetailsRow>`
    select t.id as of_thread, q.queued_runs, q.is_held, a.pending_approvals, r.*
    from unnest(${threads.map((t) => t.id)}::text[]) as t(id)
    left join lateral (
      select * from runs where thread_id = t.id
      order by case when status in ('running', 'waiting') then 0 when status = 'queued' then 1 else 2 end, case when status = 'queued' then id end, finished_at desc, id desc limit 1) r on true
    left join lateral (select count(*) as queued_runs, bool_or(held) as is_held from runs where thread_id = t.id and status = 'queued') q on true
    left join lateral (select array_agg(id order by id) as pending_approvals from approvals where thread_id = t.id and status = 'pending') a on true`.execute(
    db,
  );
  const found = new Map(rows.map((row) => [row.of_thread, row]));
  return threads.map((thread) => {
    const {
      queued_runs: queuedRuns,
      is_held: isHeld,
      pending_approvals: pendingApprovals,
      ...row
    } = found.get(thread.id)!;
    return {
      thread,
      run: row.id === null ? null : row,
      queuedRuns,
      isHeld: isHeld ?? false,
      pendingApprovals: pendingApprovals ?? [],
    };
  });
}
