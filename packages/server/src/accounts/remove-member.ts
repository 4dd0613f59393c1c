import { audit } from '../audit/index.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { findMember, Member, memberView } from './members.ts';
import { lockOrganization, requireOtherOwner, requireRank } from './policy.ts';
import { deleteMember } from './store.ts';

export const removeMember = write({
  name: 'accounts.removeMember',
  summary: 'Remove a member',
  description:
    'Takes effect with the next request of any of their sessions. Only an owner can remove an owner; the last owner cannot be removed.',
  access: { session: 'admin' },
  responses: { 200: Ok({ member: Member }) },
  async handle(tx, { principal, params, address }) {
    await lockOrganization(tx, principal.orgId);
    const member = await findMember(tx.db, principal.orgId, params.userId!);
    requireRank(principal, member.role);
    if (member.role === 'owner') await requireOtherOwner(tx, principal.orgId, member.user_id);
    await deleteMember(tx, { orgId: principal.orgId, userId: member.user_id });
    await audit(tx, { principal, address }, 'member.removed', member.user_id);
    tx.wake('accounts', principal.orgId);
    return { status: 200, body: { ok: true, member: memberView(member) } };
  },
});
