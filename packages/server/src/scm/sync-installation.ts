import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadInstallation } from './policy.ts';
import { providerOf } from './providers.ts';
import { Installation } from './schemas.ts';
import { markSynced } from './store.ts';
import { syncSoon } from './sync-soon.ts';
import { installationView } from './view.ts';

export const syncInstallation = write({
  name: 'scm.syncInstallation',
  summary: 'Refresh the repositories of a connection',
  description:
    '`syncedAt` changes when the sync has finished. One that fails changes `updatedAt` alone; `error` says why.',
  access: { permissions: ['repo:update'], unrestricted: true },
  capability: 'sourceControl',
  responses: { 202: Ok({ installation: Installation }) },
  async handle(tx, { ctx, principal, params }) {
    const before = await loadInstallation(tx.db, principal, params.installationId!, 'update');
    // What this service hosts is known already.
    const { hosts } = providerOf(before).capabilities;
    if (!hosts) await syncSoon(tx, before);
    const row = hosts ? await markSynced(tx, before.id) : before;
    return { status: 202, body: { ok: true, installation: installationView(ctx, row) } };
  },
});
