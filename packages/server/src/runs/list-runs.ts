import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { Run } from './schemas.ts';
import { runView } from './view.ts';

export const listRuns = read({
  name: 'runs.listRuns',
  summary: "List a thread's runs, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery(),
  responses: { 200: Page('runs', Run) },
  async handle(call) {
    const { ctx, query } = call;
    const { thread } = await loadThread(ctx.db, call);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['runs', thread.id] },
      (after, limit) => {
        const list = ctx.db
          .selectFrom('runs')
          .selectAll()
          .where('thread_id', '=', thread.id)
          .orderBy('id', 'desc')
          .limit(limit);
        return (after === null ? list : list.where('id', '<', after)).execute();
      },
      (r) => r.id,
    );
    return { status: 200, body: { ok: true, runs: rows.map(runView), ...rest } };
  },
});
