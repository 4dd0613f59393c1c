import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page, SearchText } from '../http/schemas.ts';
import { App } from './schemas.ts';
import { listProjects } from './store.ts';
import { appView } from './view.ts';

export const listApps = read({
  name: 'projects.listApps',
  summary: 'List apps, newest first',
  access: { permissions: ['project:read'] },
  query: ListQuery({
    externalId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    query: Type.Optional(SearchText('name')),
  }),
  responses: { 200: Page('apps', App) },
  async handle({ ctx, principal, query }) {
    const filter = {
      orgId: principal.orgId,
      projectIds: principal.projectIds,
      kind: 'platform' as const,
      externalId: query.externalId,
      query: query.query,
    };
    const binding = [query.externalId ?? null, ...(query.query === undefined ? [] : [query.query])];
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['apps', principal.orgId, ...binding] },
      (after, limit) => listProjects(ctx.db, filter, after, limit),
      (p) => p.id,
    );
    return { status: 200, body: { ok: true, apps: rows.map(appView), ...rest } };
  },
});
