import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { allAppsFilters, listOfAllApps, pageOf } from '../projects/index.ts';
import { Build, BUILD_STATUSES } from './schemas.ts';
import { findBuilds } from './store.ts';
import { buildView } from './view.ts';

export const listAllAppBuilds = read({
  name: 'builds.listAllAppBuilds',
  summary: 'List the builds of all apps, newest first',
  access: { permissions: ['thread:read'] },
  query: ListQuery(allAppsFilters(BUILD_STATUSES)),
  responses: { 200: Page('builds', Build) },
  async handle(call) {
    const { db } = call.ctx;
    const { rows, ...rest } = await pageOf(
      call,
      await listOfAllApps(call, 'builds', BUILD_STATUSES),
      (ids) => findBuilds(db, ids),
      ({ id }) => id,
    );
    return { status: 200, body: { ok: true, builds: rows.map(buildView), ...rest } };
  },
});
