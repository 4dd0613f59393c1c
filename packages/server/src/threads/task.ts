/** What a change of a task means for its threads. The task is locked: it gets no further ones meanwhile. */
import { appendEvent } from '../db/transaction.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { writeThreadsOfTask } from './store.ts';

/** Publishes `thread.updated` for each thread of a task: they show its title and status. */
export async function publishTask(tx: Tx, scope: EventScope, taskId: string): Promise<void> {
  await change(tx, scope, taskId, {});
}

/** Takes a task from its threads; publishes `thread.updated` for each. */
export async function leaveTask(tx: Tx, scope: EventScope, taskId: string): Promise<void> {
  await change(tx, scope, taskId, { task_id: null, thread_index: null });
}

async function change(
  tx: Tx,
  scope: EventScope,
  taskId: string,
  columns: Parameters<typeof writeThreadsOfTask>[2],
): Promise<void> {
  for (const { id, status } of await writeThreadsOfTask(tx, taskId, columns))
    appendEvent(tx, { ...scope, threadId: id }, 'thread.updated', { id, status });
}
