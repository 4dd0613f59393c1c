import Type from 'typebox';
import type { Db } from '../db/database.ts';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, ORDER, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { Message, MESSAGE_COLUMNS, messageView } from './schemas.ts';
import type { MessageColumns } from './schemas.ts';
import { inheritedMessages } from './transcript.ts';
import type { InheritedMessage } from './transcript.ts';

/** A message of the thread itself, or one with its place among those that it inherited. */
type Listed = MessageColumns & Partial<Pick<InheritedMessage, 'position'>>;
type Order = 'asc' | 'desc';

export const listMessages = read({
  name: 'messages.listMessages',
  summary: "List a thread's messages, oldest first or newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery({
    ...ORDER,
    inherited: Type.Optional(
      Type.Boolean({
        description:
          'Of a fork also the messages before it, with their own ids and threads, as long as these threads exist.',
      }),
    ),
  }),
  responses: { 200: Page('messages', Message) },
  async handle(call) {
    const { ctx, query } = call;
    const { thread } = await loadThread(ctx.db, call);
    const { order = 'asc', inherited = false } = query;
    const isFork = thread.forked_from !== null;
    const { rows, ...rest } = await page<Listed>(
      {
        secretKey: ctx.secretKey,
        query,
        scope: [
          'messages',
          thread.id,
          ...(order === 'asc' ? [] : [order]),
          ...(inherited ? ['inherited'] : []),
        ],
      },
      (after, limit) =>
        inherited && isFork
          ? everyMessage(ctx.db, thread.id, { order, after, limit })
          : ownMessages(ctx.db, thread.id, { order, after: after === null ? null : Number(after), limit }),
      (m) => (m.position === undefined ? String(m.sequence) : `${INHERITED}${m.position}`),
    );
    return { status: 200, body: { ok: true, messages: rows.map(messageView), ...rest } };
  },
});

interface Part {
  order: Order;
  /** The sequence or position of the last one before. */
  after: number | null;
  limit: number;
}

async function ownMessages(db: Db, threadId: string, { order, after, limit }: Part): Promise<Listed[]> {
  const list = db
    .selectFrom('messages')
    .select(MESSAGE_COLUMNS)
    .where('thread_id', '=', threadId)
    .orderBy('sequence', order)
    .limit(limit);
  return (after === null ? list : list.where('sequence', order === 'asc' ? '>' : '<', after)).execute();
}

/** Keys of inherited messages begin with it. */
const INHERITED = 'i';

/** The inherited messages are older than the thread's own. */
async function everyMessage(
  db: Db,
  threadId: string,
  { order, after, limit }: { order: Order; after: string | null; limit: number },
): Promise<Listed[]> {
  const parts = order === 'asc' ? [inheritedMessages, ownMessages] : [ownMessages, inheritedMessages];
  const isInherited = after?.startsWith(INHERITED);
  const begun = after === null ? parts[0] : isInherited ? inheritedMessages : ownMessages;
  const place = after === null ? null : Number(isInherited ? after.slice(INHERITED.length) : after);
  const rows = await begun!(db, threadId, { order, after: place, limit });
  if (begun === parts[1] || rows.length === limit) return rows;
  return [...rows, ...(await parts[1]!(db, threadId, { order, after: null, limit: limit - rows.length }))];
}
