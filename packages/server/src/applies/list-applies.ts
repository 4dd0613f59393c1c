import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { IdInput, ListQuery, Page } from '../http/schemas.ts';
import { loadProject } from '../projects/index.ts';
import { loadThread } from '../threads/index.ts';
import { Apply } from './schemas.ts';
import { applyView } from './view.ts';

export const listApplies = read({
  name: 'applies.listApplies',
  summary: "List an app's applies, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery({ threadId: Type.Optional(IdInput('thr', 'Only those of this thread.')) }),
  responses: { 200: Page('applies', Apply) },
  async handle(call) {
    const { ctx, query } = call;
    const project = await loadProject(ctx.db, call);
    const threadId =
      query.threadId === undefined
        ? null
        : (await loadThread(ctx.db, { ...call, params: { ...call.params, threadId: query.threadId } })).thread
            .id;
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['applies', project.id, threadId] },
      (after, limit) => {
        let list = ctx.db
          .selectFrom('applies')
          .selectAll()
          .where('project_id', '=', project.id)
          .orderBy('id', 'desc')
          .limit(limit);
        if (threadId !== null) list = list.where('thread_id', '=', threadId);
        return (after === null ? list : list.where('id', '<', after)).execute();
      },
      (a) => a.id,
    );
    return { status: 200, body: { ok: true, applies: rows.map(applyView), ...rest } };
  },
});
