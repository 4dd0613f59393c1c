import { sql } from 'kysely';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import { changeThread } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';

/**
 * Resolves open questions of a locked thread's run: `approval.resolved`, and `run.running` with the thread
 * when it was the last. Returns how many were still open.
 */
export async function resolveApprovals(
  tx: Tx,
  loaded: LoadedThread,
  runId: string,
  ids: string[],
  resolution: { status: 'approved' | 'denied' | 'expired'; by: string | null },
): Promise<number> {
  const scope = scopeOf(loaded.project);
  const at = { threadId: loaded.thread.id, runId };
  const resolved = await tx.db
    .updateTable('approvals')
    .set({ status: resolution.status, resolved_by: resolution.by, resolved_at: sql<Date>`now()` })
    .where('id', 'in', ids)
    .where('status', '=', 'pending')
    .returning(['id', 'tool_id'])
    .execute();
  for (const approval of resolved) {
    const tool = await tx.db
      .selectFrom('tools')
      .select('first_event_id')
      .where('id', '=', approval.tool_id)
      .executeTakeFirst();
    appendEvent(
      tx,
      scope,
      'approval.resolved',
      { id: approval.id, sourceEventId: tool?.first_event_id ?? null },
      at,
    );
  }
  const open = await tx.db
    .selectFrom('approvals')
    .select('id')
    .where('run_id', '=', runId)
    .where('status', '=', 'pending')
    .limit(1)
    .executeTakeFirst();
  if (resolved.length && !open) {
    const goes = await tx.db
      .updateTable('runs')
      .set({ status: 'running', active_since: sql<Date>`now()` })
      .where('id', '=', runId)
      .where('status', '=', 'waiting')
      .returning('id')
      .executeTakeFirst();
    if (goes) {
      appendEvent(tx, scope, 'run.running', { id: runId, status: 'running' }, at);
      await changeThread(tx, loaded, {}, 'always');
    }
  }
  tx.wake('control', loaded.thread.id);
  return resolved.length;
}
