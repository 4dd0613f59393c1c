import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { ModelKey, modelKeyView } from './model-keys.ts';

export const listModelKeys = read({
  name: 'usage.listModelKeys',
  summary: 'List the model providers for which the organization has a key',
  description: 'Ordered by name, without the keys.',
  access: { permissions: ['modelKey:read'] },
  query: ListQuery(),
  responses: { 200: Page('modelKeys', ModelKey) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['model-keys', principal.orgId] },
      (after, limit) => {
        let keys = ctx.db
          .selectFrom('model_keys')
          .select(['provider', 'created_at', 'updated_at'])
          .where('org_id', '=', principal.orgId);
        if (after !== null) keys = keys.where('provider', '>', after);
        return keys.orderBy('provider').limit(limit).execute();
      },
      (row) => row.provider,
    );
    return { status: 200, body: { ok: true, modelKeys: rows.map(modelKeyView), ...rest } };
  },
});
