/** An installation's secrets: sealed, bound to their organization and installation. */
import type { InstallationRow } from '../db/schema.ts';
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
