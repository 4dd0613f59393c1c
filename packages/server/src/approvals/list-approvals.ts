import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadThread } from '../threads/index.ts';
import { Approval, approvalView } from './schemas.ts';

export const listApprovals = read({
  name: 'approvals.listApprovals',
  summary: "List a thread's approvals, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery(),
  responses: { 200: Page('approvals', Approval) },
  async handle(call) {
    const { ctx, query } = call;
    const { thread } = await loadThread(ctx.db, call);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['approvals', thread.id] },
      (after, limit) => {
        const list = ctx.db
          .selectFrom('approvals')
          .selectAll()
          .where('thread_id', '=', thread.id)
          .orderBy('id', 'desc')
          .limit(limit);
        return (after === null ? list : list.where('id', '<', after)).execute();
      },
      (a) => a.id,
    );
    return { status: 200, body: { ok: true, approvals: rows.map(approvalView), ...rest } };
  },
});
