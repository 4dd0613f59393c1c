import type { CheckpointRow } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { insertCheckpoint } from './store.ts';

interface NewCheckpoint {
  sourceId: string;
  kind: CheckpointRow['kind'];
  runId: string | null;
  /** The commit that the source's change is based on, null where it is not known. Default: the thread's. */
  baseCommitSha?: string | null;
}

/** Saves a checkpoint of a locked thread at a source; publishes `checkpoint.created`. */
export async function recordCheckpoint(
  tx: Tx,
  { thread, project }: LoadedThread,
  { sourceId, kind, runId, baseCommitSha = thread.base_commit_sha }: NewCheckpoint,
): Promise<void> {
  const id = newId('chk');
  await insertCheckpoint(tx, {
    org_id: thread.org_id,
    id,
    thread_id: thread.id,
    run_id: runId,
    source_id: sourceId,
    kind,
    base_commit_sha: baseCommitSha,
  });
  appendEvent(tx, { ...scopeOf(project), threadId: thread.id, runId }, 'checkpoint.created', { id });
}
