import { expireApprovals } from '../approvals/index.ts';
import { passPlaceOn } from '../capacity/index.ts';
import { recordCheckpoint } from '../checkpoints/index.ts';
import type { RunRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { insertReply } from '../messages/index.ts';
import { scopeOf } from '../projects/index.ts';
import { insertSource } from '../sources/index.ts';
import type { Staged } from '../sources/index.ts';
import { nextMessageSequence } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import type { Tree } from '../trees/tree.ts';
import { passFolderOn } from './pass-folder-on.ts';
import type { RunError } from './schemas.ts';
import { dropSnapshot } from './snapshots/drop-snapshot.ts';
import { endOpenTools, endRun } from './store.ts';

export interface RunEnd {
  status: 'completed' | 'failed' | 'cancelled';
  error?: { code: RunError; message: string };
  /** The assistant's last words; null for a run that never started. */
  reply: string | null;
  /** A new version: the result of a completed run, or what survived of another. */
  source?: { tree: Tree; staged: Staged; origin: 'run' | 'restore' | 'recovery'; parents: string[] };
  /** A completed run without a change: its result is its base. */
  resultSourceId?: string | null;
  warnings?: { path: string; reason: string }[];
}

/**
 * Ends a locked run of a locked thread, in the order of the log's table: open questions expire, open tool
 * calls end, the source and its checkpoint, the reply, `run.<end>`. The caller changes the thread
 * afterwards. Returns the new source's id, if one was stored.
 */
export async function finishRun(
  tx: Tx,
  loaded: LoadedThread,
  run: RunRow,
  end: RunEnd,
): Promise<string | null> {
  const scope = scopeOf(loaded.project);
  const at = { threadId: loaded.thread.id, runId: run.id };
  await expireApprovals(tx, loaded, run.id);
  const toolStatus = end.status === 'cancelled' ? 'cancelled' : 'failed';
  for (const id of await endOpenTools(tx, run.id, toolStatus))
    appendEvent(tx, { ...scope, ...at }, 'tool.updated', { id, status: toolStatus });
  const sourceId = end.source ? await storeSource(tx, loaded, run, end.source) : null;
  const resultSourceId = end.status === 'completed' ? (sourceId ?? end.resultSourceId ?? null) : null;
  const checkpointSource = sourceId ?? (run.kind === 'repair' ? null : resultSourceId);
  if (checkpointSource !== null)
    await recordCheckpoint(tx, loaded, {
      sourceId: checkpointSource,
      kind: end.source?.origin === 'recovery' ? 'recovery' : 'run',
      runId: run.id,
    });
  if (end.reply !== null) await persistReply(tx, loaded, run, end.reply);
  await endRun(tx, run.id, {
    status: end.status,
    resultSourceId,
    error: end.error ?? null,
    warnings: end.warnings ?? [],
  });
  await dropSnapshot(tx, run, end.source?.staged);
  appendEvent(tx, { ...scope, ...at }, `run.${end.status}`, { id: run.id, status: end.status });
  if (run.status !== 'queued') {
    await passPlaceOn(tx, 'runs', loaded.project);
    await passFolderOn(tx, loaded.thread);
  }
  return sourceId;
}

async function storeSource(
  tx: Tx,
  { thread, project }: LoadedThread,
  run: RunRow,
  source: NonNullable<RunEnd['source']>,
): Promise<string> {
  const { id } = await insertSource(tx, project, {
    ...source,
    threadId: thread.id,
    runId: run.id,
    message: null,
  });
  return id;
}

async function persistReply(tx: Tx, { project }: LoadedThread, run: RunRow, content: string): Promise<void> {
  const sequence = await nextMessageSequence(tx, run.thread_id);
  await insertReply(tx, {
    org_id: run.org_id,
    id: run.reply_message_id,
    thread_id: run.thread_id,
    run_id: run.id,
    content,
    sequence,
  });
  appendEvent(tx, { ...scopeOf(project), threadId: run.thread_id, runId: run.id }, 'message.persisted', {
    id: run.reply_message_id,
    role: 'assistant',
  });
}
