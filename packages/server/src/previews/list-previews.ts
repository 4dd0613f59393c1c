import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { Preview } from './schemas.ts';
import { previewView } from './view.ts';

export const listPreviews = read({
  name: 'previews.listPreviews',
  summary: "List a thread's previews, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery(),
  responses: { 200: Page('previews', Preview) },
  async handle(call) {
    const { ctx, query } = call;
    const { thread } = await loadThread(ctx.db, call);
    const { rows, ...rest } = await page(
      ctx.secretKey,
      query,
      ['previews', thread.id],
      (after, limit) => {
        const list = ctx.db
          .selectFrom('previews')
          .selectAll()
          .where('thread_id', '=', thread.id)
          .orderBy('id', 'desc')
          .limit(limit);
        return (after === null ? list : list.where('id', '<', after)).execute();
      },
      (p) => p.id,
    );
    return { status: 200, body: { ok: true, previews: rows.map((row) => previewView(ctx, row)), ...rest } };
  },
});
