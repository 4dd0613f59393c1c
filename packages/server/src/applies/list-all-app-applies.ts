import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { allAppsFilters, listOfAllApps, pageOf } from '../projects/index.ts';
import { Apply, APPLY_STATUSES } from './schemas.ts';
import { findApplies } from './store.ts';
import { applyView } from './view.ts';

export const listAllAppApplies = read({
  name: 'applies.listAllAppApplies',
  summary: 'List the applies of all apps, newest first',
  access: { permissions: ['thread:read'] },
  query: ListQuery(allAppsFilters(APPLY_STATUSES)),
  responses: { 200: Page('applies', Apply) },
  async handle(call) {
    const { db } = call.ctx;
    const { rows, ...rest } = await pageOf(
      call,
      await listOfAllApps(call, 'applies', APPLY_STATUSES),
      (ids) => findApplies(db, ids),
      ({ id }) => id,
    );
    return { status: 200, body: { ok: true, applies: rows.map(applyView), ...rest } };
  },
});
