/** What the next commit of a thread says. */
import type { Context } from '../context.ts';
import { commitMessage } from '../commits/index.ts';
import type { Db } from '../db/database.ts';
import type { Tx } from '../db/transaction.ts';

const RUNS = 20;

/** The first, or the last, message of a role. */
export async function messageOf(
  db: Db | Tx['db'],
  threadId: string,
  role: 'user' | 'assistant',
  which: 'first' | 'last',
): Promise<string | null> {
  const message = await db
    .selectFrom('messages')
    .select('content')
    .where('thread_id', '=', threadId)
    .where('role', '=', role)
    .orderBy('sequence', which === 'first' ? 'asc' : 'desc')
    .limit(1)
    .executeTakeFirst();
  return message?.content ?? null;
}

interface NextCommit {
  threadId: string;
  /** The source that the last commit holds; null before the first. */
  afterSourceId: string | null;
  sourceId: string;
  subject: string | null;
}

/** Its subject and trailers: the runs that changed something since the last commit, and who asked for them. */
export async function nextCommitMessage(
  ctx: Pick<Context, 'config'>,
  db: Db | Tx['db'],
  { threadId, afterSourceId, sourceId, subject }: NextCommit,
): Promise<string> {
  let query = db
    .selectFrom('runs as r')
    .innerJoin('sources as s', 's.id', 'r.result_source_id')
    .select(['r.id', 'r.created_by'])
    .where('r.thread_id', '=', threadId)
    .where('r.status', '=', 'completed')
    .whereRef('r.result_source_id', 'is distinct from', 'r.base_source_id')
    .where('s.id', '<=', sourceId);
  if (afterSourceId !== null) query = query.where('s.id', '>', afterSourceId);
  const runs = (await query.orderBy('r.id', 'desc').limit(RUNS).execute()).toReversed();
  const users = runs.map((run) => run.created_by).filter((id) => id.startsWith('usr_'));
  const coAuthors =
    ctx.config.scm.commit.coAuthors && users.length > 0
      ? await db.selectFrom('users').select(['name', 'email']).where('id', 'in', users).execute()
      : [];
  return commitMessage({ subject, threadId, runIds: runs.map(({ id }) => id), coAuthors });
}
