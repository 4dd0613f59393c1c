/** The installations of the configuration file: their rows follow it at every start. */
import { audit, serviceOf } from '../audit/index.ts';
import type { Context } from '../context.ts';
import { ConfigError } from '../config.ts';
import type { InstallationRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { endLoopsOf } from '../pull-requests/index.ts';
import { openCredential, openWebhookSecret, sealCredential, sealWebhookSecret } from './credentials.ts';
import type { Credential } from './credentials.ts';
import { providerOf } from './providers.ts';
import {
  insertInstallation,
  lockConfiguredInstallations,
  removeInstallation,
  saveInstallation,
} from './store.ts';
import { syncOthers, syncSoon } from './sync-soon.ts';

type Entry = Context['config']['scm']['installations'][number];
type Place = Pick<Context, 'config' | 'db' | 'bus' | 'secretKey' | 'log'>;

/** One that is in the file no more loses its secrets. Throws ConfigError for an address that cannot be used. */
export async function followConfiguredInstallations(ctx: Place): Promise<void> {
  const entries = ctx.config.scm.installations;
  const faults: string[] = [];
  const addresses = entries.map(({ provider, baseUrl }, index) => {
    const address = providerOf({ provider }).baseUrlOf(baseUrl ?? undefined, ctx.config.scm.allowPrivate);
    if (address.fault === undefined) return address.baseUrl;
    faults.push(`scm.installations.${index}.baseUrl: ${address.fault}`);
    return '';
  });
  if (faults.length) throw new ConfigError(faults);
  await transaction(ctx, async (tx) => {
    const rows = await lockConfiguredInstallations(tx);
    if (entries.length === 0 && rows.length === 0) return;
    const organizations = await tx.db
      .selectFrom('organizations')
      .select('id')
      .where('deleted_at', 'is', null)
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    const kept = new Set<string>();
    for (const [index, entry] of entries.entries()) {
      const orgId = entry.organization ?? organizations[0]?.id;
      if (!organizations.some(({ id }) => id === orgId)) {
        ctx.log.error(
          { installation: entry.name },
          'the configuration file names an organization that is not there',
        );
        continue;
      }
      const known = rows.find((row) => row.org_id === orgId && row.name === entry.name);
      kept.add(await follow(ctx, tx, { orgId: orgId!, entry, baseUrl: addresses[index]! }, known));
    }
    for (const row of rows.filter(({ id }) => !kept.has(id))) {
      await removeInstallation(tx, row.id);
      await endLoopsOf(tx, row.id);
      await syncOthers(tx, row);
      await audit(tx, serviceOf(row.org_id), 'installation.deleted', row.id);
    }
  });
}

interface Configured {
  orgId: string;
  entry: Entry;
  baseUrl: string;
}

async function follow(
  { secretKey }: Place,
  tx: Tx,
  { orgId, entry, baseUrl }: Configured,
  known: InstallationRow | undefined,
): Promise<string> {
  const owner = { org_id: orgId, id: known?.id ?? newId('ins') };
  const credential: Credential =
    'token' in entry.credential ? { token: entry.credential.token } : { app: entry.credential };
  const { webhookSecret } = entry;
  const isSame =
    known !== undefined &&
    known.base_url === baseUrl &&
    JSON.stringify(openCredential(secretKey, known)) === JSON.stringify(credential) &&
    openWebhookSecret(secretKey, known) === webhookSecret;
  if (isSame) return known.id;
  const columns = {
    base_url: baseUrl,
    auth: credential.app ? ('app' as const) : ('token' as const),
    credential_sealed: sealCredential(secretKey, owner, credential),
    webhook_secret_sealed: webhookSecret === null ? null : sealWebhookSecret(secretKey, owner, webhookSecret),
    error: null,
  };
  const row = known
    ? await saveInstallation(tx, known.id, columns)
    : await insertInstallation(tx, {
        ...owner,
        ...columns,
        provider: entry.provider,
        name: entry.name,
        managed_by: 'config',
      });
  await syncSoon(tx, row);
  await audit(tx, serviceOf(orgId), known ? 'installation.updated' : 'installation.created', row.id);
  return row.id;
}
