/** Providers' keys: sealed, bound to their organization and provider. */
import Type from 'typebox';
import type { Context } from '../context.ts';
import type { ModelKeyRow } from '../db/schema.ts';
import { Text, Time } from '../http/schemas.ts';
import { invalid } from '../http/errors.ts';
import { seal, unseal } from '../sealing.ts';

export const PURPOSE = 'headrace model keys';

export const sealModelKey = (secretKey: Buffer, orgId: string, provider: string, key: string): Buffer =>
  seal(secretKey, PURPOSE, `${orgId} ${provider}`, key);

/** Throws when the secret is another one, or the row was moved to another organization or provider. */
export const unsealModelKey = (secretKey: Buffer, orgId: string, provider: string, sealed: Buffer): string =>
  unseal(secretKey, PURPOSE, `${orgId} ${provider}`, sealed);

/**
 * The organization's key of a provider, for the calls that the service itself makes; null where there is
 * none.
 */
export async function openModelKey(
  ctx: Pick<Context, 'db' | 'secretKey'>,
  orgId: string,
  provider: string,
): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('model_keys')
    .select('key_sealed')
    .where('org_id', '=', orgId)
    .where('provider', '=', provider)
    .executeTakeFirst();
  return row ? unsealModelKey(ctx.secretKey, orgId, provider, row.key_sealed) : null;
}

export const ModelKey = Type.Object({ provider: Text('anthropic'), createdAt: Time, updatedAt: Time });
export const modelKeyView = (row: Pick<ModelKeyRow, 'provider' | 'created_at' | 'updated_at'>) => ({
  provider: row.provider,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

const PROVIDER = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** The provider that a path names: the part of a model's id before the `/`. */
export function providerOf(params: Record<string, string>): string {
  const provider = params.provider!;
  if (provider === 'scripted')
    throw invalid({ path: '/params/provider', message: 'is built in and takes no key' });
  if (!PROVIDER.test(provider))
    throw invalid({ path: '/params/provider', message: 'must be 1 to 64 of a-z, 0-9, ., _ and -' });
  return provider;
}
