import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { appFilters, listOfApp, pageOf } from '../projects/index.ts';
import { Preview, PREVIEW_STATUSES } from './schemas.ts';
import { findPreviews } from './store.ts';
import { previewView } from './view.ts';

export const listAppPreviews = read({
  name: 'previews.listAppPreviews',
  summary: "List an app's previews, newest first",
  description: 'Those of its threads and those without one. Previews match all given filters.',
  access: { permissions: ['thread:read'] },
  query: ListQuery(appFilters(PREVIEW_STATUSES)),
  responses: { 200: Page('previews', Preview) },
  async handle(call) {
    const { ctx } = call;
    const { rows, ...rest } = await pageOf(
      call,
      await listOfApp(call, 'previews', PREVIEW_STATUSES),
      (ids) => findPreviews(ctx.db, ids),
      ({ id }) => id,
    );
    return { status: 200, body: { ok: true, previews: rows.map((row) => previewView(ctx, row)), ...rest } };
  },
});
