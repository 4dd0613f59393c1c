import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { Checkpoint, checkpointView } from './schemas.ts';

export const listCheckpoints = read({
  name: 'checkpoints.listCheckpoints',
  summary: "List a thread's checkpoints, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery(),
  responses: { 200: Page('checkpoints', Checkpoint) },
  async handle(call) {
    const { ctx, query } = call;
    const { thread } = await loadThread(ctx.db, call);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['checkpoints', thread.id] },
      (after, limit) => {
        const list = ctx.db
          .selectFrom('checkpoints')
          .selectAll()
          .where('thread_id', '=', thread.id)
          .orderBy('id', 'desc')
          .limit(limit);
        return (after === null ? list : list.where('id', '<', after)).execute();
      },
      (c) => c.id,
    );
    return { status: 200, body: { ok: true, checkpoints: rows.map(checkpointView), ...rest } };
  },
});
