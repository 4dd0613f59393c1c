import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { findMember, Member, memberView } from './members.ts';
import { lockOrganization, requireOtherOwner, requireRank } from './policy.ts';
import { RoleName } from './sessions.ts';
import { setMemberRole } from './store.ts';

export const updateMember = write({
  name: 'accounts.updateMember',
  summary: "Change a member's role",
  description:
    "Takes effect with the member's next request. Only an owner can appoint or change an owner; the last owner stays an owner.",
  access: { session: 'admin' },
  body: Body({ role: RoleName }),
  responses: { 200: Ok({ member: Member }) },
  async handle(tx, { principal, params, body, address }) {
    await lockOrganization(tx, principal.orgId);
    const member = await findMember(tx.db, principal.orgId, params.userId!);
    requireRank(principal, member.role, body.role);
    if (member.role === 'owner' && body.role !== 'owner')
      await requireOtherOwner(tx, principal.orgId, member.user_id);
    await setMemberRole(tx, { orgId: principal.orgId, userId: member.user_id, role: body.role });
    await audit(tx, { principal, address }, 'member.updated', member.user_id);
    tx.wake('accounts', principal.orgId);
    return { status: 200, body: { ok: true, member: memberView({ ...member, role: body.role }) } };
  },
});
