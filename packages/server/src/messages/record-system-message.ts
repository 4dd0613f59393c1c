import { appendEvent } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { scopeOf } from '../projects/index.ts';
import { nextMessageSequence } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';
import { insertSystemMessage } from './store.ts';

/** Stores a message from the service in a locked thread: `message.persisted`. Returns the message's id. */
export async function recordSystemMessage(
  tx: Tx,
  { thread, project }: LoadedThread,
  content: string,
): Promise<string> {
  const id = newId('msg');
  const sequence = await nextMessageSequence(tx, thread.id);
  await insertSystemMessage(tx, { org_id: thread.org_id, id, thread_id: thread.id, content, sequence });
  appendEvent(tx, { ...scopeOf(project), threadId: thread.id }, 'message.persisted', { id, role: 'system' });
  return id;
}
