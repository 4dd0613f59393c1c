/** The table `messages`. */
import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import type { MessageRow, MessagesTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { MESSAGE_COLUMNS } from './schemas.ts';
import type { MessageColumns } from './schemas.ts';
import { deliveryChange } from './state.ts';

/** Messages whose agent does not have them yet. */
const sentMessages = sql<boolean>`messages.steering = ${sql.lit(deliveryChange('take').from)}`;

export async function insertUserMessage(
  tx: Tx,
  message: Omit<Insertable<MessagesTable>, 'role'>,
): Promise<{ created_at: Date }> {
  return tx.db
    .insertInto('messages')
    .values({ ...message, role: 'user' })
    .returning('created_at')
    .executeTakeFirstOrThrow();
}

export async function insertReply(tx: Tx, reply: Omit<Insertable<MessagesTable>, 'role'>): Promise<void> {
  await tx.db
    .insertInto('messages')
    .values({ ...reply, role: 'assistant' })
    .execute();
}

export async function insertSystemMessage(
  tx: Tx,
  message: Omit<Insertable<MessagesTable>, 'role'>,
): Promise<void> {
  await tx.db
    .insertInto('messages')
    .values({ ...message, role: 'system' })
    .execute();
}

/** Notes the run that a new message starts. */
export async function assignRun(tx: Tx, messageId: string, runId: string): Promise<MessageColumns> {
  return tx.db
    .updateTable('messages')
    .set({ run_id: runId })
    .where('id', '=', messageId)
    .returning(MESSAGE_COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Notes the active run that a new message joins; its agent is given the message. */
export async function joinRun(tx: Tx, messageId: string, runId: string): Promise<MessageColumns> {
  return tx.db
    .updateTable('messages')
    .set({ run_id: runId, steering: deliveryChange('join').to })
    .where('id', '=', messageId)
    .returning(MESSAGE_COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Moves a message that was returned to the run that it starts. */
export async function moveToRun(tx: Tx, messageId: string, runId: string): Promise<void> {
  await tx.db.updateTable('messages').set({ run_id: runId }).where('id', '=', messageId).execute();
}

/** Notes that a run's agent has a message. A journal that is read again says so twice. */
export async function takeMessage(tx: Tx, runId: string, messageId: string): Promise<void> {
  await tx.db
    .updateTable('messages')
    .set({ steering: deliveryChange('take').to })
    .where('id', '=', messageId)
    .where('run_id', '=', runId)
    .where(sentMessages)
    .execute();
}

/** Ends the delivery of what the agents of these runs did not take; returns it, oldest first. */
export async function returnUntaken(tx: Tx, runIds: string[]): Promise<{ id: string; sequence: number }[]> {
  const untaken = await tx.db
    .updateTable('messages')
    .set({ steering: deliveryChange('return').to })
    .where('run_id', 'in', runIds)
    .where(sentMessages)
    .returning(['id', 'sequence'])
    .execute();
  return untaken.toSorted((a, b) => a.sequence - b.sequence);
}

/** What a run's agent still has to take, oldest first. */
export async function messagesToDeliver(
  db: Db,
  runId: string,
): Promise<Pick<MessageRow, 'id' | 'content' | 'attachments'>[]> {
  return db
    .selectFrom('messages')
    .select(['id', 'content', 'attachments'])
    .where('run_id', '=', runId)
    .where(sentMessages)
    .orderBy('sequence')
    .execute();
}

/**
 * One attachment of a message; undefined if the message has none at this index. The database reads all
 * attachments for each place that names them: only one does, and none for an attachment that is not there.
 */
export async function findAttachment(
  db: Db,
  { threadId, messageId, index }: { threadId: string; messageId: string; index: number },
): Promise<{ mediaType: string; data: string } | undefined> {
  return db
    .selectFrom('messages')
    .select([
      sql<string>`attachment_sizes -> ${index}::int ->> 'mediaType'`.as('mediaType'),
      sql<string>`attachments -> ${index}::int ->> 'data'`.as('data'),
    ])
    .where('id', '=', messageId)
    .where('thread_id', '=', threadId)
    .where(sql<boolean>`${index}::int < jsonb_array_length(attachment_sizes)`)
    .executeTakeFirst();
}

/** Messages of deleted threads, with their attachments. */
export const purgeMessages: Purge = (db, threadIds, limit) =>
  countChanged(
    db,
    sql`delete from messages where id in (select id from messages where thread_id = any(${threadIds}::text[]) limit ${limit})`,
  );
