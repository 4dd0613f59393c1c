import type { InstallationRow } from '../db/schema.ts';
import { newId } from '../ids.ts';

/** The row before it is stored, to try its credential. */
export function untriedInstallation(
  orgId: string,
  { provider, name, baseUrl }: Pick<InstallationRow, 'provider' | 'name'> & { baseUrl: string },
): InstallationRow {
  const now = new Date();
  return {
    org_id: orgId,
    id: newId('ins'),
    provider,
    name,
    account_login: null,
    base_url: baseUrl,
    auth: 'token',
    managed_by: 'api',
    credential_sealed: null,
    webhook_secret_sealed: null,
    error: null,
    webhook_received_at: null,
    synced_at: null,
    sync_due_at: null,
    deleted_at: null,
    created_at: now,
    updated_at: now,
  };
}
