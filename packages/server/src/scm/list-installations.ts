import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { Installation } from './schemas.ts';
import { installationView } from './view.ts';

export const listInstallations = read({
  name: 'scm.listInstallations',
  summary: 'List the connections to source control hosts, newest first',
  access: { permissions: ['repo:read'], unrestricted: true },
  capability: 'sourceControl',
  query: ListQuery(),
  responses: { 200: Page('installations', Installation) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['installations', principal.orgId] },
      (after, limit) => {
        let all = ctx.db
          .selectFrom('installations')
          .selectAll()
          .where('org_id', '=', principal.orgId)
          .where('deleted_at', 'is', null);
        if (after !== null) all = all.where('id', '<', after);
        return all.orderBy('id', 'desc').limit(limit).execute();
      },
      ({ id }) => id,
    );
    return {
      status: 200,
      body: { ok: true, installations: rows.map((row) => installationView(ctx, row)), ...rest },
    };
  },
});
