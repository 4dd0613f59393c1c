import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { Message, MESSAGE_COLUMNS, messageView } from './schemas.ts';

export const listMessages = read({
  name: 'messages.listMessages',
  summary: "List a thread's messages, oldest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery(),
  responses: { 200: Page('messages', Message) },
  async handle(call) {
    const { ctx, query } = call;
    const { thread } = await loadThread(ctx.db, call);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['messages', thread.id] },
      (after, limit) =>
        ctx.db
          .selectFrom('messages')
          .select(MESSAGE_COLUMNS)
          .where('thread_id', '=', thread.id)
          .where('sequence', '>', Number(after ?? 0))
          .orderBy('sequence')
          .limit(limit)
          .execute(),
      (m) => String(m.sequence),
    );
    return { status: 200, body: { ok: true, messages: rows.map(messageView), ...rest } };
  },
});
