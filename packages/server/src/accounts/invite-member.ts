import Type from 'typebox';
import { audit } from '../audit/index.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { Invitation, invitationView } from './invitations.ts';
import { requireRank } from './policy.ts';
import { hashToken, makeToken } from './session-cookie.ts';
import { findUser, RoleName } from './sessions.ts';
import { insertInvitation } from './store.ts';

const INVITATION_DAYS = 7;

export const inviteMember = write({
  name: 'accounts.inviteMember',
  summary: 'Invite a person to the organization',
  description:
    'Give the `url` to the invited person: it works once, within a week. Only an owner can invite an owner.',
  access: { session: 'admin' },
  body: Body({
    email: Type.String({ format: 'email', maxLength: 320, examples: ['kim@example.com'] }),
    role: RoleName,
  }),
  responses: { 201: Ok({ invitation: Invitation }) },
  async handle(tx, { principal, body, headers, address }) {
    requireRank(principal, body.role);
    const user = await findUser(tx.db, body.email);
    const isMember =
      user &&
      (await tx.db
        .selectFrom('members')
        .select('user_id')
        .where('org_id', '=', principal.orgId)
        .where('user_id', '=', user.id)
        .executeTakeFirst());
    if (isMember)
      throw new ApiError(
        'conflict',
        'This address belongs to a member already. Change the role of that member instead.',
      );
    const token = makeToken();
    const invitation = await insertInvitation(tx, {
      orgId: principal.orgId,
      email: body.email,
      role: body.role,
      tokenHash: hashToken(token),
      invitedBy: principal.actorId,
      days: INVITATION_DAYS,
    });
    await audit(tx, { principal, address }, 'member.invited', invitation.id);
    // The Origin was found to be this service's own (http/authorize.ts).
    const view = invitationView(invitation, `${headers.origin}/console/invitations/${token}`);
    // An admin may read the receipt of an invitation that makes an owner.
    return {
      status: 201,
      body: { ok: true, invitation: view },
      shown: { ok: true, invitation: { ...view, url: null } },
    };
  },
});
