import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadHost } from './policy.ts';
import { Binding } from './schemas.ts';
import { bindingView } from './view.ts';

export const listBindings = read({
  name: 'hosts.listBindings',
  summary: 'List the folders that a host offers, by name',
  description:
    'As the host told last. One that it offers no more stays listed, with `removed`. The service never learns the path of a folder.',
  access: { permissions: ['thread:read'] },
  capability: 'hosts',
  query: ListQuery(),
  responses: { 200: Page('bindings', Binding) },
  async handle({ ctx, principal, params, query }) {
    const host = await loadHost(ctx.db, principal, params.hostId!);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['bindings', host.id] },
      (after, limit) => {
        let bindings = ctx.db.selectFrom('bindings').selectAll().where('host_id', '=', host.id);
        if (after !== null) bindings = bindings.where('name', '>', after);
        return bindings.orderBy('name').limit(limit).execute();
      },
      ({ name }) => name,
    );
    return { status: 200, body: { ok: true, bindings: rows.map(bindingView), ...rest } };
  },
});
