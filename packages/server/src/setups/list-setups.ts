import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadProject } from '../projects/index.ts';
import { Setup } from './schemas.ts';
import { findProjectSetups } from './store.ts';
import { setupView } from './view.ts';

export const listSetups = read({
  name: 'setups.listSetups',
  summary: "List an app's setups, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery(),
  responses: { 200: Page('setups', Setup) },
  async handle(call) {
    const { ctx, query } = call;
    const project = await loadProject(ctx.db, call);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['setups', project.id] },
      (after, limit) => findProjectSetups(ctx.db, project.id, after, limit),
      (setup) => setup.id,
    );
    return { status: 200, body: { ok: true, setups: rows.map(setupView), ...rest } };
  },
});
