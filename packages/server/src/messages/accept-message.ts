import type { MessageRow, RunRow } from '../db/schema.ts';
import { json } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';
import type { Registry } from '../agents/index.ts';
import { queueRun } from '../runs/index.ts';
import { nextMessageSequence } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';

export interface NewMessage {
  content: string;
  clientMessageId?: string | undefined;
  modelId: string;
  attachments?: { mediaType: string; data: string }[] | undefined;
  createdBy: string;
  /** The active run that it joins, instead of starting one. */
  joins?: RunRow | null;
}

/**
 * Saves a user's message in a locked thread and queues its run: `message.persisted`, `run.queued`; one that
 * joins the active run is handed to its agent instead. The caller changes the thread. The run's id is on
 * the message, so both rows are written before either is shown.
 */
export async function acceptMessage(
  tx: Tx,
  config: Registry,
  loaded: LoadedThread,
  input: NewMessage,
): Promise<{ message: MessageRow; run: RunRow; thread: { latest_user_message_at: Date } }> {
  const { thread, project } = loaded;
  const id = newId('msg');
  const sequence = await nextMessageSequence(tx, thread.id);
  const saved = await tx.db
    .insertInto('messages')
    .values({
      org_id: thread.org_id,
      id,
      thread_id: thread.id,
      role: 'user',
      content: input.content,
      sequence,
      client_message_id: input.clientMessageId ?? null,
      attachments: input.attachments?.length ? json(input.attachments) : null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  appendEvent(tx, scopeOf(project), 'message.persisted', { id, role: 'user' }, { threadId: thread.id });
  const run =
    input.joins ??
    (await queueRun(tx, config, loaded, {
      kind: 'message',
      messageId: id,
      modelId: input.modelId,
      createdBy: input.createdBy,
    }));
  const message = await tx.db
    .updateTable('messages')
    .set({ run_id: run.id, ...(input.joins ? { steering: 'sent' as const } : {}) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (input.joins) tx.wake('control', thread.id);
  return { message, run, thread: { latest_user_message_at: saved.created_at } };
}
