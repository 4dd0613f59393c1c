import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { ListedPullRequest } from './schemas.ts';
import { listPullRequests as listOf } from './store.ts';
import { listedView } from './view.ts';

export const listPullRequests = read({
  name: 'pullRequests.listPullRequests',
  summary: "List a thread's pull requests, newest first",
  access: { permissions: ['thread:read'] },
  capability: 'sourceControl',
  query: ListQuery(),
  responses: { 200: Page('pullRequests', ListedPullRequest) },
  async handle(call) {
    const { ctx, query } = call;
    const { thread } = await loadThread(ctx.db, call);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['pull-requests', thread.id] },
      (after, limit) => listOf(ctx.db, thread.id, after, limit),
      ({ row }) => row.id,
    );
    return { status: 200, body: { ok: true, pullRequests: rows.map(listedView), ...rest } };
  },
});
