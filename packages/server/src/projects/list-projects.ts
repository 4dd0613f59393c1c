import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Enum, IdInput, ListQuery, Page, SearchText } from '../http/schemas.ts';
import { Project } from './schemas.ts';
import { listProjects as findProjects } from './store.ts';
import { projectView } from './view.ts';

export const listProjects = read({
  name: 'projects.listProjects',
  summary: 'List projects, newest first',
  access: { permissions: ['project:read'] },
  query: ListQuery({
    kind: Type.Optional(Enum(['direct', 'platform'])),
    repositoryId: Type.Optional(IdInput('repo', 'Only projects that are bound to it.')),
    query: Type.Optional(SearchText('name')),
  }),
  responses: { 200: Page('projects', Project) },
  async handle({ ctx, principal, query }) {
    const { kind, repositoryId, query: text } = query;
    const filter = {
      orgId: principal.orgId,
      projectIds: principal.projectIds,
      kind,
      repositoryId,
      query: text,
    };
    const binding = [kind ?? null, repositoryId ?? null, ...(text === undefined ? [] : [text])];
    const { rows, ...rest } = await page(
      {
        secretKey: ctx.secretKey,
        query,
        scope: ['projects', principal.orgId, ...binding],
      },
      (after, limit) => findProjects(ctx.db, filter, after, limit),
      (p) => p.id,
    );
    return { status: 200, body: { ok: true, projects: rows.map(projectView), ...rest } };
  },
});
