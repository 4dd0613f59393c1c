import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Id, ListQuery, Nullable, ORDER, Page } from '../http/schemas.ts';
import { loadProject } from './policy.ts';
import { Head } from './schemas.ts';

const HeadEntry = Type.Object({
  ...Head.properties,
  applyId: Nullable(Id('apl', 'The apply that moved the head; null for its initialization.')),
});

export const listHeadHistory = read({
  name: 'projects.listHeadHistory',
  summary: "List the head's history, oldest first or newest first",
  access: { permissions: ['project:read'] },
  query: ListQuery(ORDER),
  responses: { 200: Page('heads', HeadEntry) },
  async handle(call) {
    const { ctx, query } = call;
    const project = await loadProject(ctx.db, call);
    const { order = 'asc' } = query;
    const { rows, ...rest } = await page(
      {
        secretKey: ctx.secretKey,
        query,
        scope: ['heads', project.id, ...(order === 'asc' ? [] : [order])],
      },
      (after, limit) => {
        const list = ctx.db
          .selectFrom('head_history')
          .selectAll()
          .where('project_id', '=', project.id)
          .orderBy('revision', order)
          .limit(limit);
        return (
          after === null ? list : list.where('revision', order === 'asc' ? '>' : '<', Number(after))
        ).execute();
      },
      (h) => String(h.revision),
    );
    const heads = rows.map((h) => ({
      projectId: h.project_id,
      sourceId: h.source_id,
      revision: h.revision,
      updatedAt: h.created_at.toISOString(),
      applyId: h.apply_id,
    }));
    return { status: 200, body: { ok: true, heads, ...rest } };
  },
});
