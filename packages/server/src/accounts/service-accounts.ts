/** Service accounts and their credentials as the API shows and takes them. */
import { sql } from 'kysely';
import Type from 'typebox';
import type { CredentialRow, ServiceAccountRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { Id, Nullable, Ok, Text, Time } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { hashKey, makeServiceKey } from './keys.ts';
import { Permissions } from './permissions.ts';
import { insertCredential } from './store.ts';

export const AccountName = Text('Backend', { minLength: 1, maxLength: 100 });
/** Not checked for existence: an account may be restricted to a project that is yet to be made. */
export const ProjectIds = Type.Array(
  Type.String({ minLength: 1, maxLength: 128, examples: ['prj_01k9x3v5e8f7arh2m4t6w8y0zb'] }),
  { minItems: 1, maxItems: 100, description: 'Only these projects; null: all of the organization.' },
);

export const Account = Type.Object({
  id: Id('sa'),
  orgId: Id('org'),
  name: AccountName,
  permissions: Permissions,
  projectIds: Nullable(ProjectIds),
  disabled: Type.Boolean({ examples: [false] }),
  createdAt: Time,
  updatedAt: Time,
});
export const Credential = Type.Object({
  id: Id('cred'),
  accountId: Id('sa'),
  expiresAt: Time,
  revoked: Type.Boolean({ examples: [false] }),
  lastUsedAt: Nullable({ ...Time, description: 'The minute of its last use; null: never used.' }),
  createdAt: Time,
});

/** Made once: a retry has `secretUnavailable: true` and no `key`. */
export const AccountWithKey = Ok({
  account: Account,
  credential: Credential,
  key: Type.Optional(
    Text('hrk_01k9x3v5e8f7arh2m4t6w8y0zb_Jx0o5mOQ9E1kz3b7WqL2nD8vYcT4uGpRfHsXaZi6KtM9f86d0', {
      description: 'The service key; only the first answer contains it.',
    }),
  ),
  secretUnavailable: Type.Boolean({ examples: [false] }),
});

export const accountView = (a: ServiceAccountRow) => ({
  id: a.id,
  orgId: a.org_id,
  name: a.name,
  permissions: a.permissions,
  projectIds: a.project_ids,
  disabled: a.disabled,
  createdAt: a.created_at.toISOString(),
  updatedAt: a.updated_at.toISOString(),
});

export const credentialView = (c: CredentialRow) => ({
  id: c.id,
  accountId: c.account_id,
  expiresAt: c.expires_at.toISOString(),
  revoked: c.revoked,
  lastUsedAt: c.last_used_at?.toISOString() ?? null,
  createdAt: c.created_at.toISOString(),
});

export const DEFAULT_SECONDS = 365 * 86_400;

/** A new credential and its key, which is stored nowhere. */
export async function createCredential(
  tx: Tx,
  account: ServiceAccountRow,
  expiresInSeconds: number,
): Promise<{ credential: CredentialRow; key: string }> {
  const id = newId('cred');
  const key = makeServiceKey(id);
  const credential = await insertCredential(tx, account, {
    id,
    secretHash: hashKey(key),
    expiresAt: sql<Date>`now() + ${expiresInSeconds} * interval '1 second'`,
  });
  return { credential, key };
}

/** The first answer, and what its replays are. */
export function withKey(account: ServiceAccountRow, credential: CredentialRow, key: string) {
  const identity = { ok: true, account: accountView(account), credential: credentialView(credential) };
  return {
    status: 201,
    body: { ...identity, key, secretUnavailable: false },
    replay: { ...identity, secretUnavailable: true },
  };
}
