import { audit } from '../audit/index.ts';
import { notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { Invitation, invitationView } from './invitations.ts';
import { deleteInvitation } from './store.ts';

export const revokeInvitation = write({
  name: 'accounts.revokeInvitation',
  summary: 'Revoke an invitation that was not accepted yet',
  description: 'Its link stops working immediately.',
  access: { session: 'admin' },
  responses: { 200: Ok({ invitation: Invitation }) },
  async handle(tx, { principal, params, address }) {
    const invitation = await deleteInvitation(tx, principal.orgId, params.invitationId!);
    if (!invitation) throw notFound('invitation');
    await audit(tx, { principal, address }, 'invitation.revoked', invitation.id);
    return { status: 200, body: { ok: true, invitation: invitationView(invitation, null) } };
  },
});
