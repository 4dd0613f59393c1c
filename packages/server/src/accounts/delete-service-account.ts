import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadServiceAccount } from './policy.ts';
import { Account, accountView } from './service-accounts.ts';
import { markServiceAccountDeleted } from './store.ts';

export const deleteServiceAccount = write({
  name: 'accounts.deleteServiceAccount',
  summary: 'Delete a service account',
  description: 'All its keys stop working immediately.',
  access: { session: 'admin' },
  responses: { 200: Ok({ account: Account }) },
  async handle(tx, { principal, params, address }) {
    const account = await loadServiceAccount(tx.db, principal, params.accountId!, 'update');
    await markServiceAccountDeleted(tx, account.id);
    await audit(tx, { principal, address }, 'service_account.deleted', account.id);
    tx.wake('accounts', principal.orgId);
    return { status: 200, body: { ok: true, account: accountView(account) } };
  },
});
