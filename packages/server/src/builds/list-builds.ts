import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { Build } from './schemas.ts';
import { findThreadBuilds } from './store.ts';
import { buildView } from './view.ts';

export const listBuilds = read({
  name: 'builds.listBuilds',
  summary: "List a thread's builds, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery(),
  responses: { 200: Page('builds', Build) },
  async handle(call) {
    const { ctx, query } = call;
    const { thread } = await loadThread(ctx.db, call);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['builds', thread.id] },
      (after, limit) => findThreadBuilds(ctx.db, thread.id, after, limit),
      (b) => b.id,
    );
    return { status: 200, body: { ok: true, builds: rows.map(buildView), ...rest } };
  },
});
