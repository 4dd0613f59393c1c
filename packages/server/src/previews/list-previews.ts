import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { Preview } from './schemas.ts';
import { findThreadPreviews } from './store.ts';
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
      { secretKey: ctx.secretKey, query, scope: ['previews', thread.id] },
      (after, limit) => findThreadPreviews(ctx.db, thread.id, after, limit),
      (p) => p.id,
    );
    return { status: 200, body: { ok: true, previews: rows.map((row) => previewView(ctx, row)), ...rest } };
  },
});
