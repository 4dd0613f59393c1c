import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { numberOf, requirePull } from './local-pulls.ts';
import { Comment } from './schemas.ts';
import { commentView } from './view.ts';

export const listComments = read({
  name: 'scm.listComments',
  summary: 'List the comments on a pull request, oldest first',
  access: { permissions: ['repo:read'] },
  capability: 'sourceControl',
  query: ListQuery(),
  responses: { 200: Page('comments', Comment) },
  async handle(call) {
    const { ctx, params, query } = call;
    const { id } = await requirePull(ctx, call);
    const number = numberOf(params);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['comments', id, number] },
      (after, limit) => {
        let all = ctx.db
          .selectFrom('local_comments')
          .selectAll()
          .where('repository_id', '=', id)
          .where('number', '=', number);
        if (after !== null) all = all.where('id', '>', after);
        return all.orderBy('id').limit(limit).execute();
      },
      (row) => row.id,
    );
    return { status: 200, body: { ok: true, comments: rows.map(commentView), ...rest } };
  },
});
