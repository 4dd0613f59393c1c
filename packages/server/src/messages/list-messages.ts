import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, ORDER, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { Message, MESSAGE_COLUMNS, messageView } from './schemas.ts';

export const listMessages = read({
  name: 'messages.listMessages',
  summary: "List a thread's messages, oldest first or newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery(ORDER),
  responses: { 200: Page('messages', Message) },
  async handle(call) {
    const { ctx, query } = call;
    const { thread } = await loadThread(ctx.db, call);
    const { order = 'asc' } = query;
    const { rows, ...rest } = await page(
      {
        secretKey: ctx.secretKey,
        query,
        scope: ['messages', thread.id, ...(order === 'asc' ? [] : [order])],
      },
      (after, limit) => {
        const list = ctx.db
          .selectFrom('messages')
          .select(MESSAGE_COLUMNS)
          .where('thread_id', '=', thread.id)
          .orderBy('sequence', order)
          .limit(limit);
        return (
          after === null ? list : list.where('sequence', order === 'asc' ? '>' : '<', Number(after))
        ).execute();
      },
      (m) => String(m.sequence),
    );
    return { status: 200, body: { ok: true, messages: rows.map(messageView), ...rest } };
  },
});
