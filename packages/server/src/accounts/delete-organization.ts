import { audit } from '../audit/index.ts';
import { deleteOrganizationVariables } from '../environment/index.ts';
import { deleteHostsOf } from '../hosts/index.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { deleteMcpServersOf } from '../mcp-servers/index.ts';
import { deleteSourceControlOf } from '../scm/index.ts';
import { deleteOrganizationSkills } from '../skills/index.ts';
import { expireOrganizationObjects } from '../sources/index.ts';
import { deleteProjectRow } from '../teardown/index.ts';
import { deleteModelKeysOf } from '../usage/index.ts';
import { deleteSubscriptionsOf } from '../webhooks/index.ts';
import { loadOrganization, requireOrganization } from './policy.ts';
import { Organization, organizationView } from './sessions.ts';
import { markOrganizationDeleted } from './store.ts';

export const deleteOrganization = write({
  name: 'accounts.deleteOrganization',
  summary: 'Delete an organization',
  description:
    'Requires an owner. All its keys stop working, its stored secrets and its projects are deleted, and nobody can act in it again. While one of its builds still has a sandbox: 409 `build_busy`.',
  access: { session: 'user' },
  responses: { 200: Ok({ organization: Organization }) },
  async handle(tx, call) {
    const { principal, params, address } = call;
    requireOrganization(principal);
    const organization = await loadOrganization(tx.db, principal, params.organizationId!, 'update');
    if (organization.role !== 'owner')
      throw new ApiError('forbidden', 'This takes the role owner in the organization.');
    // In the order of their ids, so that two deletions meet in one order.
    const projects = await tx.db
      .selectFrom('projects')
      .selectAll()
      .where('org_id', '=', organization.id)
      .where('deleted_at', 'is', null)
      .orderBy('id')
      .forUpdate()
      .execute();
    for (const project of projects) await deleteProjectRow(tx, project, call.ctx.config.cleanupGraceSeconds);
    // Secrets of others that it gave us go at once.
    await deleteModelKeysOf(tx, organization.id);
    await deleteMcpServersOf(tx, organization.id);
    await deleteOrganizationVariables(tx, organization.id);
    await deleteOrganizationSkills(tx, organization.id);
    await expireOrganizationObjects(tx, organization.id, call.ctx.config.cleanupGraceSeconds);
    await deleteSourceControlOf(tx, organization.id);
    await deleteSubscriptionsOf(tx, organization.id);
    await deleteHostsOf(tx, organization.id);
    await markOrganizationDeleted(tx, organization.id);
    await audit(
      tx,
      { principal: { orgId: organization.id, actorId: principal.actorId }, address },
      'organization.deleted',
      organization.id,
    );
    tx.wake('accounts', organization.id);
    return {
      status: 200,
      body: { ok: true, organization: organizationView(organization, organization.role) },
    };
  },
});
