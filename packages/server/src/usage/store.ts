/** The only writer of `model_keys`. */
import { sql } from 'kysely';
import type { ModelKeyRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

interface KeyOfProvider {
  orgId: string;
  provider: string;
}

/** Replaces the key that the organization has of the provider. */
export async function saveModelKey(
  tx: Tx,
  { orgId, provider, sealed }: KeyOfProvider & { sealed: Buffer },
): Promise<ModelKeyRow> {
  return tx.db
    .insertInto('model_keys')
    .values({ org_id: orgId, provider, key_sealed: sealed })
    .onConflict((oc) =>
      oc.columns(['org_id', 'provider']).doUpdateSet({ key_sealed: sealed, updated_at: sql<Date>`now()` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Undefined where the organization has no key of the provider. */
export async function removeModelKey(
  tx: Tx,
  { orgId, provider }: KeyOfProvider,
): Promise<ModelKeyRow | undefined> {
  return tx.db
    .deleteFrom('model_keys')
    .where('org_id', '=', orgId)
    .where('provider', '=', provider)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteModelKeysOf(tx: Tx, orgId: string): Promise<void> {
  await tx.db.deleteFrom('model_keys').where('org_id', '=', orgId).execute();
}
