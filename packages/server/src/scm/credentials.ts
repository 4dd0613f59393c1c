/** An installation's secrets: sealed, bound to their organization and installation. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { InstallationRow } from '../db/schema.ts';
import type { SealedRow } from '../sealed-rows.ts';
import { seal, unseal } from '../sealing.ts';

export type Credential =
  | { token: string; app?: never }
  | { app: { appId: string; installationId: string; privateKey: string }; token?: never };

type Owner = Pick<InstallationRow, 'org_id' | 'id'>;

export const CREDENTIAL_PURPOSE = 'headrace installations';
export const WEBHOOK_PURPOSE = 'headrace installations: webhooks';
const placeOf = ({ org_id, id }: Owner) => `${org_id} ${id}`;

export const sealCredential = (secretKey: Buffer, owner: Owner, credential: Credential): Buffer =>
  seal(secretKey, CREDENTIAL_PURPOSE, placeOf(owner), JSON.stringify(credential));

/** Null where there is none (any longer). Throws when the service's secret is another one. */
export const openCredential = (
  secretKey: Buffer,
  row: Owner & Pick<InstallationRow, 'credential_sealed'>,
): Credential | null =>
  row.credential_sealed &&
  (JSON.parse(unseal(secretKey, CREDENTIAL_PURPOSE, placeOf(row), row.credential_sealed)) as Credential);

export const sealWebhookSecret = (secretKey: Buffer, owner: Owner, secret: string): Buffer =>
  seal(secretKey, WEBHOOK_PURPOSE, placeOf(owner), secret);

export const openWebhookSecret = (
  secretKey: Buffer,
  row: Owner & Pick<InstallationRow, 'webhook_secret_sealed'>,
): string | null =>
  row.webhook_secret_sealed && unseal(secretKey, WEBHOOK_PURPOSE, placeOf(row), row.webhook_secret_sealed);

/** The sealed values of a column, in batches. */
export async function readSealed(
  db: Db,
  column: 'credential_sealed' | 'webhook_secret_sealed',
  { after, limit }: { after: string; limit: number },
): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select id, org_id || ' ' || id as place, ${sql.ref(column)} as sealed from installations
    where ${sql.ref(column)} is not null and id > ${after} order by id limit ${limit}`.execute(db);
  return rows;
}
