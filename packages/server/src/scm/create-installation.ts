import { audit } from '../audit/index.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, invalid } from '../http/errors.ts';
import { claimedWrite } from '../http/operation.ts';
import { sealWebhookSecret } from './credentials.ts';
import { credentialOf, makeWebhookSecret, tryCredential } from './new-credential.ts';
import { providerOf } from './providers.ts';
import { InstallationWithSecret, NewInstallation } from './schemas.ts';
import { insertInstallation } from './store.ts';
import { syncSoon } from './sync-soon.ts';
import { untriedInstallation } from './untried-installation.ts';
import { installationView } from './view.ts';

const MAX_OF_ORGANIZATION = 100;

export const createInstallation = claimedWrite({
  name: 'scm.createInstallation',
  summary: 'Connect a source control host',
  description:
    'With a `token` or an `app`. The service tries the credential first, and lists its repositories afterwards, as a sync does. `webhookSecret` is returned only once.',
  access: { session: 'admin' },
  capability: 'sourceControl',
  body: NewInstallation,
  responses: { 201: InstallationWithSecret },
  mode: 'staged',
  publishesPending: false,
  async prepare({ ctx, body }) {
    const credential = credentialOf(body);
    if (!credential) throw invalid({ path: '/token', message: 'is required unless app is given' });
    const address = providerOf(body).baseUrlOf(body.baseUrl, ctx.config.scm.allowPrivate);
    if (address.fault !== undefined) throw invalid({ path: '/baseUrl', message: address.fault });
    return { prepared: { credential, baseUrl: address.baseUrl } };
  },
  async handle(call, claim, { credential, baseUrl }) {
    const { ctx, principal, body } = call;
    const made = untriedInstallation(principal.orgId, { provider: body.provider, name: body.name, baseUrl });
    const columns = await tryCredential(ctx, made, credential);
    const webhookSecret = body.webhookSecret ?? makeWebhookSecret();
    return transaction(ctx, async (tx) => {
      await requireRoom(tx, principal.orgId);
      const row = await insertInstallation(tx, {
        org_id: made.org_id,
        id: made.id,
        provider: made.provider,
        name: made.name,
        base_url: made.base_url,
        managed_by: 'api',
        auth: columns.auth,
        account_login: columns.account_login,
        credential_sealed: columns.credential_sealed,
        webhook_secret_sealed: sealWebhookSecret(ctx.secretKey, made, webhookSecret),
      });
      await syncSoon(tx, row);
      await audit(tx, call, 'installation.created', row.id);
      const shown = { ok: true, installation: installationView(ctx, row) };
      const result = {
        status: 201,
        body: { ...shown, webhookSecret, secretUnavailable: false },
        replay: { ...shown, secretUnavailable: true },
      };
      await claim.settle(tx, result);
      return result;
    });
  },
});

async function requireRoom(tx: Tx, orgId: string): Promise<void> {
  const { count } = await tx.db
    .selectFrom('installations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (count >= MAX_OF_ORGANIZATION)
    throw new ApiError(
      'conflict',
      `An organization has at most ${MAX_OF_ORGANIZATION} installations. Delete one first.`,
    );
}
