import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadProject } from '../projects/index.ts';
import { Source } from './schemas.ts';
import { findSources } from './store.ts';
import { sourceView } from './view.ts';

export const listSources = read({
  name: 'sources.listSources',
  summary: 'List source versions, newest first',
  description: 'Every version that was stored, whatever its origin.',
  access: { permissions: ['project:read'] },
  query: ListQuery(),
  responses: { 200: Page('sources', Source) },
  async handle(call) {
    const { ctx, query } = call;
    const project = await loadProject(ctx.db, call);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['sources', project.id] },
      (after, limit) => findSources(ctx.db, project.id, after, limit),
      (s) => s.id,
    );
    return { status: 200, body: { ok: true, sources: rows.map(sourceView), ...rest } };
  },
});
