import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Body, Ok, Text } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { insertLocalInstallation } from '../scm/index.ts';
import { requireOrganization, requireOwnerAnywhere } from './policy.ts';
import { Organization, organizationView } from './sessions.ts';
import { insertMember, insertOrganization } from './store.ts';

export const createOrganization = write({
  name: 'accounts.createOrganization',
  summary: 'Create a further, empty organization',
  description:
    'The caller, who must be an owner of any organization, becomes its owner. The session stays in its current organization.',
  access: { session: 'user' },
  body: Body({ name: Text('Acme', { minLength: 1, maxLength: 200 }) }),
  responses: { 201: Ok({ organization: Organization }) },
  async handle(tx, { principal, body, address }) {
    requireOrganization(principal);
    await requireOwnerAnywhere(tx.db, principal);
    const id = newId('org');
    await insertOrganization(tx, { id, name: body.name });
    await insertLocalInstallation(tx, id);
    await insertMember(tx, { orgId: id, userId: principal.userId!, role: 'owner' });
    await audit(
      tx,
      { principal: { orgId: id, actorId: principal.actorId }, address },
      'organization.created',
      id,
    );
    return {
      status: 201,
      body: { ok: true, organization: organizationView({ id, name: body.name }, 'owner') },
    };
  },
});
