import { audit } from '../audit/index.ts';
import { transaction } from '../db/transaction.ts';
import { claimedWrite } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { sealWebhookSecret } from './credentials.ts';
import { credentialOf, tryCredential } from './new-credential.ts';
import { loadInstallation, requireApiManaged } from './policy.ts';
import { Installation, InstallationChange } from './schemas.ts';
import { saveInstallation } from './store.ts';
import { syncSoon } from './sync-soon.ts';
import { installationView } from './view.ts';

export const updateInstallation = claimedWrite({
  name: 'scm.updateInstallation',
  summary: 'Change the connection to a source control host',
  description:
    'Changes only the given fields. The service tries a new credential first, and lists its repositories afterwards.',
  access: { session: 'admin' },
  capability: 'sourceControl',
  body: InstallationChange,
  responses: { 200: Ok({ installation: Installation }) },
  mode: 'staged',
  publishesPending: false,
  async prepare({ body }) {
    return { prepared: credentialOf(body) };
  },
  async handle(call, claim, credential) {
    const { ctx, principal, params, body } = call;
    const id = params.installationId!;
    const before = await loadInstallation(ctx.db, principal, id);
    requireApiManaged(before);
    const { error: _, ...columns } = credential
      ? await tryCredential(ctx, before, credential)
      : { error: null };
    return transaction(ctx, async (tx) => {
      // Another may have deleted it meanwhile.
      await loadInstallation(tx.db, principal, id, 'update');
      const row = await saveInstallation(tx, id, {
        ...columns,
        ...(credential ? { error: null } : {}),
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.webhookSecret === undefined
          ? {}
          : { webhook_secret_sealed: sealWebhookSecret(ctx.secretKey, before, body.webhookSecret) }),
      });
      if (credential) await syncSoon(tx, row);
      await audit(tx, call, 'installation.updated', id);
      const result = { status: 200, body: { ok: true, installation: installationView(ctx, row) } };
      await claim.settle(tx, result);
      return result;
    });
  },
});
