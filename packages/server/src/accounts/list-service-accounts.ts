import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { Account, accountView } from './service-accounts.ts';

export const listServiceAccounts = read({
  name: 'accounts.listServiceAccounts',
  summary: 'List service accounts, newest first',
  access: { session: 'admin' },
  query: ListQuery(),
  responses: { 200: Page('accounts', Account) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['accounts', principal.orgId] },
      (after, limit) => {
        let accounts = ctx.db
          .selectFrom('service_accounts')
          .selectAll()
          .where('org_id', '=', principal.orgId)
          .where('deleted_at', 'is', null);
        if (after !== null) accounts = accounts.where('id', '<', after);
        return accounts.orderBy('id', 'desc').limit(limit).execute();
      },
      (account) => account.id,
    );
    return { status: 200, body: { ok: true, accounts: rows.map(accountView), ...rest } };
  },
});
