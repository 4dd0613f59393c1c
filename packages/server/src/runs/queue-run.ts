import type { RunRow } from '../db/schema.ts';
import { agentOf } from '../agents/index.ts';
import type { Registry } from '../agents/index.ts';
import type { Tx } from '../db/transaction.ts';
import { appendEvent } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { enqueue } from '../jobs/enqueue.ts';
import { scopeOf } from '../projects/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { insertRun } from './store.ts';

/** The key of all jobs that use a thread's workspace: one at a time, in order. */
export const threadKey = (threadId: string) => `thread:${threadId}`;

interface NewRun {
  kind: RunRow['kind'];
  messageId: string | null;
  modelId: string;
  createdBy: string;
  restoreSourceId?: string;
  /** The prompt, where it is not the message. */
  prompt?: string;
  applyId?: string;
}

/** Queues a run and its job in a locked thread: `run.queued`. The caller changes the thread afterwards. */
export async function queueRun(
  tx: Tx,
  config: Registry,
  { thread, project }: LoadedThread,
  run: NewRun,
): Promise<RunRow> {
  const row = await insertRun(tx, {
    org_id: thread.org_id,
    id: newId('run'),
    project_id: project.id,
    thread_id: thread.id,
    message_id: run.messageId,
    reply_message_id: newId('msg'),
    kind: run.kind,
    agent: thread.execution_target?.provider ?? agentOf(config, run.modelId),
    model_id: run.modelId,
    prompt: run.prompt ?? null,
    restore_source_id: run.restoreSourceId ?? null,
    apply_id: run.applyId ?? null,
    created_by: run.createdBy,
  });
  appendEvent(tx, { ...scopeOf(project), threadId: thread.id, runId: row.id }, 'run.queued', {
    id: row.id,
    status: 'queued',
  });
  await enqueue(tx, 'run.work', { threadId: thread.id }, { key: threadKey(thread.id), turnOf: thread });
  return row;
}
