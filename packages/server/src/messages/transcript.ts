/** The table `inherited_messages`: what was said in a fork's parents before it began. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import { countChanged } from '../db/purge.ts';
import type { Purge } from '../db/purge.ts';
import type { ThreadRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { MESSAGE_COLUMNS } from './schemas.ts';
import type { MessageColumns } from './schemas.ts';

/** The newest characters (code points) of what was said are kept. */
export const TRANSCRIPT_CHARACTERS = 200_000;
const MOST_BYTES_OF_CHARACTER = 4;

/** The runs whose messages count, of those that have ended: up to a run, or ended by a time; else all. */
export interface TranscriptEnd {
  runId?: string;
  endedBy?: Date;
}

interface Copy {
  /** A locked thread: none of its runs ends meanwhile. */
  from: Pick<ThreadRow, 'id'>;
  to: Pick<ThreadRow, 'id' | 'org_id'>;
  end: TranscriptEnd;
}

/**
 * The newest of what was said (rows of `turn`, `place`, `content` and others) that agents are told, with `kept`: all of the
 * content, or the end of it in the oldest message, where it does not fit whole. Bytes are counted first, as the length of a
 * long text in bytes is known without reading it.
 */
export const newestOf = (said: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select *, right(content, (${TRANSCRIPT_CHARACTERS} - newer)::int) as kept
  from (
    select *, sum(char_length(content)) over (order by turn desc, place desc) - char_length(content) as newer
    from (
      select *, sum(octet_length(content)) over (order by turn desc, place desc) - octet_length(content) as newer_bytes
      from (${said}) as said
    ) as counted where newer_bytes < ${TRANSCRIPT_CHARACTERS * MOST_BYTES_OF_CHARACTER}
  ) as newest where newer < ${TRANSCRIPT_CHARACTERS}`;

/**
 * Copies what was said in a thread, and what that inherited itself, to its fork, in one statement: the texts stay in the
 * database.
 */
export async function copyTranscript(tx: Tx, { from, to, end }: Copy): Promise<void> {
  const said = sql`
    select 0 as turn, position as place, message_id, role, content from inherited_messages where thread_id = ${from.id}
    union all
    select 1, m.sequence, m.id, m.role, m.content from messages m join runs r on r.id = m.run_id
    where m.thread_id = ${from.id} and r.finished_at is not null and ${counts(end)}`;
  await sql`
    insert into inherited_messages (org_id, thread_id, position, message_id, role, content)
    select ${to.org_id}, ${to.id}, row_number() over (order by turn, place), message_id, role, kept
    from (${newestOf(said)}) as newest`.execute(tx.db);
}

function counts({ runId, endedBy }: TranscriptEnd): RawBuilder<boolean> {
  if (runId !== undefined) return sql`r.id collate "C" <= ${runId}`;
  return endedBy === undefined ? sql`true` : sql`r.finished_at <= ${endedBy}`;
}

export type InheritedMessage = MessageColumns & { position: number };

const COLUMNS = MESSAGE_COLUMNS.map((name) => `messages.${name}` as const);

/** The messages that a fork inherited, as far as their threads are there. */
export async function inheritedMessages(
  db: Db,
  threadId: string,
  { order, after, limit }: { order: 'asc' | 'desc'; after: number | null; limit: number },
): Promise<InheritedMessage[]> {
  let list = db
    .selectFrom('inherited_messages as inherited')
    .innerJoin('messages', 'messages.id', 'inherited.message_id')
    .innerJoin('threads', 'threads.id', 'messages.thread_id')
    .select([...COLUMNS, 'inherited.position'])
    .where('inherited.thread_id', '=', threadId)
    .where('threads.deleted_at', 'is', null)
    .orderBy('inherited.position', order)
    .limit(limit);
  if (after !== null) list = list.where('inherited.position', order === 'asc' ? '>' : '<', after);
  return list.execute();
}

/** What deleted forks inherited. */
export const purgeTranscripts: Purge = (db, threadIds, limit) =>
  countChanged(
    db,
    sql`delete from inherited_messages where ctid = any(array(select ctid from inherited_messages where thread_id = any(${threadIds}::text[]) limit ${limit}))`,
  );
