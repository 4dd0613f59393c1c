import Type from 'typebox';
import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Body, Nullable, Ok } from '../http/schemas.ts';
import { distinct, Permissions } from './permissions.ts';
import { loadServiceAccount } from './policy.ts';
import { Account, AccountName, accountView, ProjectIds } from './service-accounts.ts';
import { saveServiceAccount } from './store.ts';

export const updateServiceAccount = write({
  name: 'accounts.updateServiceAccount',
  summary: "Change a service account's name, permissions, projects, or disable it",
  description:
    'Takes effect with the next request in this process, and within a second in all others; open streams end. The person who last saved an account is responsible for it: its keys are refused with 403 once that person is neither owner nor admin, until another person saves it.',
  access: { session: 'admin' },
  body: Body({
    name: Type.Optional(AccountName),
    permissions: Type.Optional(Permissions),
    projectIds: Type.Optional(Nullable(ProjectIds)),
    disabled: Type.Optional(Type.Boolean()),
  }),
  responses: { 200: Ok({ account: Account }) },
  async handle(tx, { principal, params, body, address }) {
    const before = await loadServiceAccount(tx.db, principal, params.accountId!, 'update');
    const account = await saveServiceAccount(tx, before.id, {
      ...body,
      permissions: body.permissions && distinct(body.permissions),
      savedBy: principal.userId,
    });
    await audit(tx, { principal, address }, 'service_account.updated', account.id);
    tx.wake('accounts', principal.orgId);
    return { status: 200, body: { ok: true, account: accountView(account) } };
  },
});
