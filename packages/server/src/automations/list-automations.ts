import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { IdInput, ListQuery, Page } from '../http/schemas.ts';
import { loadProject } from '../projects/index.ts';
import { Automation } from './schemas.ts';
import { listAutomations as findAutomations } from './store.ts';
import { automationView } from './view.ts';

export const listAutomations = read({
  name: 'automations.listAutomations',
  summary: 'List automations, newest first',
  access: { permissions: ['automation:read'] },
  capability: 'automations',
  query: ListQuery({ projectId: Type.Optional(IdInput('prj')) }),
  responses: { 200: Page('automations', Automation) },
  async handle(call) {
    const { ctx, principal, query } = call;
    const { projectId } = query;
    if (projectId !== undefined) await loadProject(ctx.db, call, 'none', projectId);
    const filter = { orgId: principal.orgId, projectIds: principal.projectIds, projectId };
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['automations', principal.orgId, projectId ?? null] },
      (after, limit) => findAutomations(ctx.db, filter, after, limit),
      ({ id }) => id,
    );
    const automations = rows.map((row) => automationView(ctx, row));
    return { status: 200, body: { ok: true, automations, ...rest } };
  },
});
