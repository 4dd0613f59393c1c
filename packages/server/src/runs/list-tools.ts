import { page } from '../http/cursors.ts';
import { notFound } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, ORDER, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { Tool } from './schemas.ts';
import { toolView } from './view.ts';

export const listTools = read({
  name: 'runs.listTools',
  summary: "List a run's tool calls, oldest first or newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery(ORDER),
  responses: { 200: Page('tools', Tool) },
  async handle(call) {
    const { ctx, query } = call;
    const { order = 'asc' } = query;
    const { thread } = await loadThread(ctx.db, call);
    const run = await ctx.db
      .selectFrom('runs')
      .select('id')
      .where('thread_id', '=', thread.id)
      .where('id', '=', call.params.runId!)
      .executeTakeFirst();
    if (!run) throw notFound('run');
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['tools', run.id, order] },
      (after, limit) => {
        const list = ctx.db
          .selectFrom('tools')
          .selectAll()
          .where('run_id', '=', run.id)
          .orderBy('id', order)
          .limit(limit);
        return (after === null ? list : list.where('id', order === 'asc' ? '>' : '<', after)).execute();
      },
      (t) => t.id,
    );
    return { status: 200, body: { ok: true, tools: rows.map(toolView), ...rest } };
  },
});
