import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { appFilters, listOfApp, pageOf } from '../projects/index.ts';
import { Build, BUILD_STATUSES } from './schemas.ts';
import { findBuilds } from './store.ts';
import { buildView } from './view.ts';

export const listAppBuilds = read({
  name: 'builds.listAppBuilds',
  summary: "List an app's builds, newest first",
  description: 'Those of its threads and those without one. Builds match all given filters.',
  access: { permissions: ['thread:read'] },
  query: ListQuery(appFilters(BUILD_STATUSES)),
  responses: { 200: Page('builds', Build) },
  async handle(call) {
    const { rows, ...rest } = await pageOf(
      call,
      await listOfApp(call, 'builds', BUILD_STATUSES),
      (ids) => findBuilds(call.ctx.db, ids),
      ({ id }) => id,
    );
    return { status: 200, body: { ok: true, builds: rows.map(buildView), ...rest } };
  },
});
