import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { allAppsFilters, listOfAllApps, pageOf } from '../projects/index.ts';
import { Preview, PREVIEW_STATUSES } from './schemas.ts';
import { findPreviews } from './store.ts';
import { previewView } from './view.ts';

export const listAllAppPreviews = read({
  name: 'previews.listAllAppPreviews',
  summary: 'List the previews of all apps, newest first',
  access: { permissions: ['thread:read'] },
  query: ListQuery(allAppsFilters(PREVIEW_STATUSES)),
  responses: { 200: Page('previews', Preview) },
  async handle(call) {
    const { db } = call.ctx;
    const { rows, ...rest } = await pageOf(
      call,
      await listOfAllApps(call, 'previews', PREVIEW_STATUSES),
      (ids) => findPreviews(db, ids),
      ({ id }) => id,
    );
    return {
      status: 200,
      body: { ok: true, previews: rows.map((row) => previewView(call.ctx, row)), ...rest },
    };
  },
});
