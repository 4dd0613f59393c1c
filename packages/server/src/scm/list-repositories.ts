import { sql } from 'kysely';
import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { IdInput, ListQuery, Page, Text } from '../http/schemas.ts';
import { seenBy } from './policy.ts';
import { Repository } from './schemas.ts';
import { repositoryView } from './view.ts';

export const listRepositories = read({
  name: 'scm.listRepositories',
  summary: 'List repositories, in the order of their names',
  description: 'Only those that an installation sees now.',
  access: { permissions: ['repo:read'], unrestricted: true },
  capability: 'sourceControl',
  query: ListQuery({
    installationId: Type.Optional(IdInput('ins')),
    query: Type.Optional(
      Text('site', { minLength: 1, maxLength: 200, description: 'A part of `fullName`, case-insensitive.' }),
    ),
  }),
  responses: { 200: Page('repositories', Repository) },
  async handle({ ctx, principal, query }) {
    const { installationId, query: part } = query;
    const scope = ['repositories', principal.orgId, installationId ?? null, part ?? null];
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope },
      (after, limit) => {
        let all = ctx.db
          .selectFrom('repositories')
          .innerJoin('installations as i', 'i.id', 'repositories.installation_id')
          .selectAll('repositories')
          .where(seenBy(principal))
          .where('repositories.gone_at', 'is', null)
          .where('i.deleted_at', 'is', null);
        if (installationId !== undefined) all = all.where('i.id', '=', installationId);
        if (part !== undefined)
          all = all.where(sql<boolean>`strpos(lower(repositories.full_name), lower(${part})) > 0`);
        if (after !== null) {
          const [name, id] = JSON.parse(after) as [string, string];
          all = all.where(
            sql<boolean>`(repositories.full_name collate "C", repositories.id) > (${name} collate "C", ${id})`,
          );
        }
        return all
          .orderBy(sql`repositories.full_name collate "C"`)
          .orderBy('repositories.id')
          .limit(limit)
          .execute();
      },
      (row) => JSON.stringify([row.full_name, row.id]),
    );
    return {
      status: 200,
      body: { ok: true, repositories: rows.map((row) => repositoryView(ctx, row)), ...rest },
    };
  },
});
