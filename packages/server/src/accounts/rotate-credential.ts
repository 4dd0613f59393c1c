import Type from 'typebox';
import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Body } from '../http/schemas.ts';
import { loadServiceAccount } from './policy.ts';
import { AccountWithKey, createCredential, DEFAULT_SECONDS, withKey } from './service-accounts.ts';

export const rotateCredential = write({
  name: 'accounts.rotateCredential',
  summary: 'Add a key to a service account',
  description:
    'The old keys stay valid until they expire or are revoked: move your backend over, then revoke. The new key is returned only once.',
  access: { session: 'admin' },
  body: Body({
    expiresInSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 315_360_000,
        default: DEFAULT_SECONDS,
        description: 'Default: one year.',
      }),
    ),
  }),
  responses: { 201: AccountWithKey },
  async handle(tx, { principal, params, body, address }) {
    const account = await loadServiceAccount(tx.db, principal, params.accountId!, 'update');
    const { credential, key } = await createCredential(tx, account, body.expiresInSeconds ?? DEFAULT_SECONDS);
    await audit(tx, { principal, address }, 'credential.created', credential.id);
    return withKey(account, credential, key);
  },
});
