import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { seesHosts } from './policy.ts';
import { Host } from './schemas.ts';
import { selectHosts } from './store.ts';
import { hostView } from './view.ts';

export const listHosts = read({
  name: 'hosts.listHosts',
  summary: 'List hosts, newest first',
  description: 'A key that is restricted to projects sees none.',
  access: { permissions: ['thread:read'] },
  capability: 'hosts',
  query: ListQuery(),
  responses: { 200: Page('hosts', Host) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['hosts', principal.orgId] },
      async (after, limit) => {
        if (!seesHosts(principal)) return [];
        let hosts = selectHosts(ctx.db).where('org_id', '=', principal.orgId).where('deleted_at', 'is', null);
        if (after !== null) hosts = hosts.where('id', '<', after);
        return hosts.orderBy('id', 'desc').limit(limit).execute();
      },
      ({ id }) => id,
    );
    return { status: 200, body: { ok: true, hosts: rows.map(hostView), ...rest } };
  },
});
