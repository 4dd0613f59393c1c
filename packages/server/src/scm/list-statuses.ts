import { sql } from 'kysely';
import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { requireCommit } from './commits.ts';
import { openHosted } from './open-repository.ts';
import { Status } from './schemas.ts';
import { statusView } from './view.ts';

export const listStatuses = read({
  name: 'scm.listStatuses',
  summary: "List a commit's statuses, newest first",
  access: { permissions: ['repo:read'] },
  capability: 'sourceControl',
  query: ListQuery({
    latest: Type.Optional(Type.Boolean({ description: 'Only the newest of each context.' })),
  }),
  responses: { 200: Page('statuses', Status) },
  async handle(call) {
    const { ctx, query } = call;
    const repository = await openHosted(call);
    const { id } = repository.at.repository;
    const sha = call.params.commitSha!;
    await requireCommit(repository, sha);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['statuses', id, sha, query.latest ?? false] },
      (after, limit) => {
        let all = ctx.db
          .selectFrom('commit_statuses as s')
          .selectAll()
          .where('repository_id', '=', id)
          .where('commit_sha', '=', sha);
        if (query.latest)
          all = all.where(
            sql<boolean>`not exists (select from commit_statuses n where n.repository_id = s.repository_id
              and n.commit_sha = s.commit_sha and n.context = s.context and n.id > s.id)`,
          );
        if (after !== null) all = all.where('id', '<', after);
        return all.orderBy('id', 'desc').limit(limit).execute();
      },
      ({ id: statusId }) => statusId,
    );
    return { status: 200, body: { ok: true, statuses: rows.map(statusView), ...rest } };
  },
});
