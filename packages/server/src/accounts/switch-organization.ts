import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Body, IdInput } from '../http/schemas.ts';
import { loadOrganization, requireOrganization } from './policy.ts';
import { hashToken, sessionTokenOf } from './session-cookie.ts';
import { Session, sessionBody } from './sessions.ts';
import { setActiveOrganization } from './store.ts';

export const switchOrganization = write({
  name: 'accounts.switchOrganization',
  summary: 'Choose the organization that this session acts in',
  description: 'Other sessions of the user do not change.',
  access: { session: 'user' },
  body: Body({ organizationId: IdInput('org') }),
  responses: { 200: Session },
  async handle(tx, { ctx, principal, body, headers, address }) {
    requireOrganization(principal);
    const organization = await loadOrganization(tx.db, principal, body.organizationId);
    await setActiveOrganization(tx, hashToken(sessionTokenOf(headers)!), organization.id);
    if (organization.id !== principal.orgId)
      await audit(
        tx,
        { principal: { orgId: organization.id, actorId: principal.actorId }, address },
        'session.switched',
        organization.id,
      );
    tx.wake('accounts', principal.userId!);
    return { status: 200, body: await sessionBody(ctx.config, tx.db, principal.userId!, organization.id) };
  },
});
