import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { endLoopsOf } from '../pull-requests/index.ts';
import { loadInstallation, requireApiManaged } from './policy.ts';
import { Installation } from './schemas.ts';
import { removeInstallation } from './store.ts';
import { syncOthers } from './sync-soon.ts';
import { installationView } from './view.ts';

export const deleteInstallation = write({
  name: 'scm.deleteInstallation',
  summary: 'Disconnect a source control host',
  description:
    'Its secrets are removed at once. Projects stay bound to its repositories; operations that need the host are refused until another installation sees them.',
  access: { session: 'admin' },
  capability: 'sourceControl',
  responses: { 200: Ok({ installation: Installation }) },
  async handle(tx, call) {
    const { ctx, principal, params } = call;
    const before = await loadInstallation(tx.db, principal, params.installationId!, 'update');
    requireApiManaged(before);
    await removeInstallation(tx, before.id);
    await endLoopsOf(tx, before.id);
    await syncOthers(tx, before);
    await audit(tx, call, 'installation.deleted', before.id);
    return { status: 200, body: { ok: true, installation: installationView(ctx, before) } };
  },
});
