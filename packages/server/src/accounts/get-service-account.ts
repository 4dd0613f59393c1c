import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadServiceAccount } from './policy.ts';
import { Account, accountView } from './service-accounts.ts';

export const getServiceAccount = read({
  name: 'accounts.getServiceAccount',
  summary: 'Get a service account',
  access: { session: 'admin' },
  responses: { 200: Ok({ account: Account }) },
  handle: async ({ ctx, principal, params }) => ({
    status: 200,
    body: { ok: true, account: accountView(await loadServiceAccount(ctx.db, principal, params.accountId!)) },
  }),
});
