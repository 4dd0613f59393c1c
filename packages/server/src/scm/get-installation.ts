import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { loadInstallation } from './policy.ts';
import { Installation } from './schemas.ts';
import { installationView } from './view.ts';

export const getInstallation = read({
  name: 'scm.getInstallation',
  summary: 'Read a connection to a source control host',
  access: { permissions: ['repo:read'], unrestricted: true },
  capability: 'sourceControl',
  responses: { 200: Ok({ installation: Installation }) },
  async handle({ ctx, principal, params }) {
    const row = await loadInstallation(ctx.db, principal, params.installationId!);
    return { status: 200, body: { ok: true, installation: installationView(ctx, row) } };
  },
});
