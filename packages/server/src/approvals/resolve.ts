import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { scopeOf } from '../projects/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import type { Resolution } from './state.ts';
import { expirePending, hasPending, resolvePending } from './store.ts';

/**
 * Resolves open questions of a locked thread's run: `approval.resolved`. Returns how many were still open,
 * and whether the run has none left: the caller resumes the run then.
 */
export async function resolveApprovals(
  tx: Tx,
  { thread, project }: LoadedThread,
  { runId, ids, ...how }: { runId: string; ids: string[]; resolution: Resolution; by: string | null },
): Promise<{ resolved: number; isLast: boolean }> {
  const resolved = await resolvePending(tx, ids, how);
  for (const approval of resolved) {
    const tool = await tx.db
      .selectFrom('tools')
      .select('first_event_id')
      .where('id', '=', approval.tool_id)
      .executeTakeFirst();
    appendEvent(tx, { ...scopeOf(project), threadId: thread.id, runId }, 'approval.resolved', {
      id: approval.id,
      sourceEventId: tool?.first_event_id ?? null,
    });
  }
  const isOpen = await hasPending(tx.db, runId);
  tx.wake('control', thread.id);
  return { resolved: resolved.length, isLast: resolved.length > 0 && !isOpen };
}

/** Expires the open questions of a locked thread's run that ends: `approval.resolved`. */
export async function expireApprovals(
  tx: Tx,
  { thread, project }: LoadedThread,
  runId: string,
): Promise<void> {
  const expired = await expirePending(tx, runId);
  if (!expired.length) return;
  const tools = await tx.db
    .selectFrom('tools')
    .select(['id', 'first_event_id'])
    .where('run_id', '=', runId)
    .execute();
  const firstEvents = new Map(tools.map((tool) => [tool.id, tool.first_event_id]));
  for (const approval of expired)
    appendEvent(tx, { ...scopeOf(project), threadId: thread.id, runId }, 'approval.resolved', {
      id: approval.id,
      sourceEventId: firstEvents.get(approval.tool_id) ?? null,
    });
}
