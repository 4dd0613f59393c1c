import { audit } from '../audit/index.ts';
import { notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadServiceAccount } from './policy.ts';
import { Credential, credentialView } from './service-accounts.ts';
import { markCredentialRevoked } from './store.ts';

export const revokeCredential = write({
  name: 'accounts.revokeCredential',
  summary: 'Revoke a key',
  description:
    'Takes effect with the next request in this process, and within a second in all others; open streams end.',
  access: { session: 'admin' },
  responses: { 200: Ok({ credential: Credential }) },
  async handle(tx, { principal, params, address }) {
    const account = await loadServiceAccount(tx.db, principal, params.accountId!);
    const credential = await markCredentialRevoked(tx, account.id, params.credentialId!);
    if (!credential) throw notFound('credential');
    await audit(tx, { principal, address }, 'credential.revoked', credential.id);
    tx.wake('accounts', principal.orgId);
    return { status: 200, body: { ok: true, credential: credentialView(credential) } };
  },
});
