/** The effects of a task's change on its threads. The task is locked, so it gets no new threads in the meantime. */
import { appendEvent } from '../db/transaction.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { writeThreadsOfTask } from './store.ts';

/** Publishes `thread.updated` for each thread of a task: they show its title and status. */
export async function publishTask(tx: Tx, scope: EventScope, taskId: string): Promise<void> {
  await change(tx, scope, taskId, {});
}

/** Removes a task from its threads; publishes `thread.updated` for each. */
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
