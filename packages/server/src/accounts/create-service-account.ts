import Type from 'typebox';
import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Body, Nullable } from '../http/schemas.ts';
import { distinct, Permissions } from './permissions.ts';
import {
  AccountName,
  AccountWithKey,
  createCredential,
  DEFAULT_SECONDS,
  ProjectIds,
  withKey,
} from './service-accounts.ts';
import { insertServiceAccount } from './store.ts';

export const createServiceAccount = write({
  name: 'accounts.createServiceAccount',
  summary: 'Create a service account and its first key',
  description:
    'The key is returned only once; a retry returns the identity without it. With `projectIds` organization-wide repository discovery and billing are unavailable.',
  access: { session: 'admin' },
  body: Body({
    name: AccountName,
    permissions: Permissions,
    projectIds: Type.Optional(Nullable(ProjectIds)),
  }),
  responses: { 201: AccountWithKey },
  async handle(tx, { principal, body, address }) {
    const account = await insertServiceAccount(tx, {
      orgId: principal.orgId,
      name: body.name,
      permissions: distinct(body.permissions),
      projectIds: body.projectIds ?? null,
      savedBy: principal.userId,
    });
    const { credential, key } = await createCredential(tx, account, DEFAULT_SECONDS);
    await audit(tx, { principal, address }, 'service_account.created', account.id);
    return withKey(account, credential, key);
  },
});
