import { sql } from 'kysely';
import type { ProjectRow, RunRow, ThreadRow } from '../db/schema.ts';
import { json } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { recordCheckpoint } from '../checkpoints/index.ts';
import { removeDraft } from '../events/index.ts';
import { scopeOf } from '../projects/index.ts';
import { passPlaceOn } from '../capacity/index.ts';
import { insertSource } from '../sources/index.ts';
import type { Staged } from '../sources/index.ts';
import { nextMessageSequence } from '../threads/index.ts';
import type { Tree } from '../trees/tree.ts';
import type { RunError } from './schemas.ts';

export interface RunEnd {
  status: 'completed' | 'failed' | 'cancelled';
  error?: { code: RunError; message: string };
  /** The assistant's last words; null for a run that never started. */
  reply: string | null;
  /** A new version: the result of a completed run, what survived of another. */
  source?: { tree: Tree; staged: Staged; origin: 'run' | 'restore' | 'recovery'; parents: string[] };
  /** A completed run without a change: its result is its base. */
  resultSourceId?: string | null;
  warnings?: { path: string; reason: string }[];
}

/**
 * Ends a run of a locked thread, in the order of the log's table: open questions expire, open tool calls
 * end, the source and its checkpoint, the reply, `run.<end>`. The caller changes the thread afterwards.
 * Returns the new source's id, if one was stored.
 */
export async function finishRun(
  tx: Tx,
  { thread, project }: { thread: ThreadRow; project: ProjectRow },
  run: RunRow,
  end: RunEnd,
): Promise<string | null> {
  const scope = scopeOf(project);
  const at = { threadId: thread.id, runId: run.id };
  await expireApprovals(tx, run, scope, at);
  await endTools(tx, run, end.status === 'cancelled' ? 'cancelled' : 'failed', scope, at);
  let sourceId: string | null = null;
  if (end.source) {
    const { tree, staged, origin, parents } = end.source;
    sourceId = (
      await insertSource(tx, project, {
        tree,
        parents,
        origin,
        threadId: thread.id,
        runId: run.id,
        message: null,
        staged,
      })
    ).id;
  }
  const resultSourceId = end.status === 'completed' ? (sourceId ?? end.resultSourceId ?? null) : null;
  const checkpointSource = sourceId ?? (run.kind === 'repair' ? null : resultSourceId);
  if (checkpointSource)
    await recordCheckpoint(
      tx,
      { thread, project },
      checkpointSource,
      end.source?.origin === 'recovery' ? 'recovery' : 'run',
      run.id,
    );
  if (end.reply !== null) await persistReply(tx, run, end.reply, scope, at);
  await tx.db
    .updateTable('runs')
    .set({
      status: end.status,
      result_source_id: resultSourceId,
      error_code: end.error?.code ?? null,
      error_message: end.error?.message ?? null,
      warnings: json(end.warnings ?? []),
      held: false,
      finished_at: sql<Date>`now()`,
      active_duration_ms: sql<number>`active_duration_ms + coalesce(greatest(0, extract(epoch from now() - active_since) * 1000)::bigint, 0)`,
      active_since: null,
    })
    .where('id', '=', run.id)
    .execute();
  appendEvent(tx, scope, `run.${end.status}`, { id: run.id, status: end.status }, at);
  if (run.status !== 'queued') await passPlaceOn(tx, 'runs', project);
  return sourceId;
}

type Scope = ReturnType<typeof scopeOf>;
interface At {
  threadId: string;
  runId: string;
}

async function expireApprovals(tx: Tx, run: RunRow, scope: Scope, at: At): Promise<void> {
  const open = await tx.db
    .updateTable('approvals')
    .set({ status: 'expired', resolved_at: sql<Date>`now()` })
    .where('run_id', '=', run.id)
    .where('status', '=', 'pending')
    .returning(['id', 'tool_id'])
    .execute();
  if (!open.length) return;
  const tools = new Map(
    (
      await tx.db.selectFrom('tools').select(['id', 'first_event_id']).where('run_id', '=', run.id).execute()
    ).map((t) => [t.id, t.first_event_id]),
  );
  for (const approval of open)
    appendEvent(
      tx,
      scope,
      'approval.resolved',
      { id: approval.id, sourceEventId: tools.get(approval.tool_id) ?? null },
      at,
    );
}

async function endTools(
  tx: Tx,
  run: RunRow,
  status: 'failed' | 'cancelled',
  scope: Scope,
  at: At,
): Promise<void> {
  const open = await tx.db
    .updateTable('tools')
    .set({ status, finished_at: sql<Date>`now()` })
    .where('run_id', '=', run.id)
    .where('status', 'in', ['pending', 'running'])
    .returning('id')
    .execute();
  for (const { id } of open) appendEvent(tx, scope, 'tool.updated', { id, status }, at);
}

async function persistReply(tx: Tx, run: RunRow, content: string, scope: Scope, at: At): Promise<void> {
  const sequence = await nextMessageSequence(tx, run.thread_id);
  await tx.db
    .insertInto('messages')
    .values({
      org_id: run.org_id,
      id: run.reply_message_id,
      thread_id: run.thread_id,
      run_id: run.id,
      role: 'assistant',
      content,
      sequence,
    })
    .execute();
  appendEvent(tx, scope, 'message.persisted', { id: run.reply_message_id, role: 'assistant' }, at);
  await removeDraft(tx, run.thread_id);
}

/**
 * Cancels every open run of a locked thread in the caller's transaction (archive, delete, stop of queued
 * ones). A worker that drives one notices and kills its sandbox.
 */
export async function cancelRuns(
  tx: Tx,
  loaded: { thread: ThreadRow; project: ProjectRow },
  which: 'all' | 'queued',
): Promise<RunRow[]> {
  const open = await tx.db
    .selectFrom('runs')
    .selectAll()
    .where('thread_id', '=', loaded.thread.id)
    .where('status', 'in', which === 'all' ? ['queued', 'running', 'waiting'] : ['queued'])
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const run of open)
    await finishRun(tx, loaded, run, {
      status: 'cancelled',
      reply: run.status === 'queued' ? null : '[interrupted]',
    });
  // What joined them is cancelled with them.
  if (open.length)
    await tx.db
      .updateTable('messages')
      .set({ steering: null })
      .where(
        'run_id',
        'in',
        open.map((run) => run.id),
      )
      .where('steering', '=', 'sent')
      .execute();
  if (open.length) tx.wake('control', loaded.thread.id);
  return open;
}

/** Ends the queued runs of a locked thread whose workspace cannot be prepared; returns how many. */
export async function failQueuedRuns(
  tx: Tx,
  loaded: { thread: ThreadRow; project: ProjectRow },
  error: { code: RunError; message: string },
): Promise<number> {
  const queued = await tx.db
    .selectFrom('runs')
    .selectAll()
    .where('thread_id', '=', loaded.thread.id)
    .where('status', '=', 'queued')
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const run of queued) await finishRun(tx, loaded, run, { status: 'failed', reply: null, error });
  return queued.length;
}
