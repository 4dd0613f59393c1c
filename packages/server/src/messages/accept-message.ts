import type { RunRow } from '../db/schema.ts';
import { json } from '../db/schema.ts';
import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';
import { nextMessageSequence } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import type { MessageColumns } from './schemas.ts';
import { assignRun, insertUserMessage, joinRun } from './store.ts';

interface NewMessage {
  content: string;
  clientMessageId?: string | undefined;
  attachments?: { mediaType: string; data: string }[] | undefined;
  /** The active run that the message joins, instead of starting one. */
  joins?: RunRow | null;
  /** Queues the run that the message starts. Handed over, because runs write messages too. */
  startRun(messageId: string): Promise<RunRow>;
}

/**
 * Saves a user's message in a locked thread and queues its run: `message.persisted`, `run.queued`. A
 * message that joins the active run is given to its agent instead. The caller changes the thread. The run's
 * id is on the message, so both rows are written before either is shown.
 */
export async function acceptMessage(
  tx: Tx,
  { thread, project }: LoadedThread,
  { content, clientMessageId, attachments, joins, startRun }: NewMessage,
): Promise<{ message: MessageColumns; run: RunRow; thread: { latest_user_message_at: Date } }> {
  const id = newId('msg');
  const sequence = await nextMessageSequence(tx, thread.id);
  const saved = await insertUserMessage(tx, {
    org_id: thread.org_id,
    id,
    thread_id: thread.id,
    content,
    sequence,
    client_message_id: clientMessageId ?? null,
    attachments: attachments?.length ? json(attachments) : null,
    attachment_sizes: attachments?.length ? json(attachments.map(sizeOf)) : null,
  });
  appendEvent(tx, { ...scopeOf(project), threadId: thread.id }, 'message.persisted', { id, role: 'user' });
  const run = joins ?? (await startRun(id));
  const message = joins ? await joinRun(tx, id, joins.id) : await assignRun(tx, id, run.id);
  if (joins) tx.wake('control', thread.id);
  return { message, run, thread: { latest_user_message_at: saved.created_at } };
}

const sizeOf = ({ mediaType, data }: { mediaType: string; data: string }) => ({
  mediaType,
  byteSize: Buffer.byteLength(data, 'base64'),
});
