import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Enum, ListQuery, Page } from '../http/schemas.ts';
import { seenProjects, threadOf } from './local-pulls.ts';
import { requireHosted } from './open-repository.ts';
import { loadRepository } from './policy.ts';
import { LocalPull, PULL_STATES } from './schemas.ts';
import { localPullView } from './view.ts';

export const listPullRequests = read({
  name: 'scm.listPullRequests',
  summary: 'List the pull requests of a repository that this service hosts, newest first',
  access: { permissions: ['repo:read'] },
  capability: 'sourceControl',
  query: ListQuery({ state: Type.Optional(Enum(PULL_STATES)) }),
  responses: { 200: Page('pullRequests', LocalPull) },
  async handle({ ctx, principal, params, query }) {
    const repository = await loadRepository(ctx.db, principal, params.repositoryId!);
    requireHosted(repository);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['local-pulls', repository.id, query.state ?? null] },
      (after, limit) => {
        let all = ctx.db
          .selectFrom('local_pull_requests')
          .selectAll()
          .select(threadOf(seenProjects(principal)))
          .where('repository_id', '=', repository.id);
        if (query.state !== undefined) all = all.where('state', '=', query.state);
        if (after !== null) all = all.where('number', '<', Number(after));
        return all.orderBy('number', 'desc').limit(limit).execute();
      },
      ({ number }) => String(number),
    );
    return {
      status: 200,
      body: { ok: true, pullRequests: rows.map((row) => localPullView(ctx, repository, row)), ...rest },
    };
  },
});
