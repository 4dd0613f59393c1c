import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadServiceAccount } from './policy.ts';
import { Credential, credentialView } from './service-accounts.ts';

export const listCredentials = read({
  name: 'accounts.listCredentials',
  summary: "List a service account's credentials, newest first",
  access: { session: 'admin' },
  query: ListQuery(),
  responses: { 200: Page('credentials', Credential) },
  async handle({ ctx, principal, params, query }) {
    const account = await loadServiceAccount(ctx.db, principal, params.accountId!);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['credentials', account.id] },
      (after, limit) => {
        let credentials = ctx.db.selectFrom('credentials').selectAll().where('account_id', '=', account.id);
        if (after !== null) credentials = credentials.where('id', '<', after);
        return credentials.orderBy('id', 'desc').limit(limit).execute();
      },
      (credential) => credential.id,
    );
    return { status: 200, body: { ok: true, credentials: rows.map(credentialView), ...rest } };
  },
});
