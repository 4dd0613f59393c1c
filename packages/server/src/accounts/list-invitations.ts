import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { Invitation, invitationView, openInvitations } from './invitations.ts';

export const listInvitations = read({
  name: 'accounts.listInvitations',
  summary: 'List the open invitations of the organization, newest first',
  access: { session: 'admin' },
  query: ListQuery(),
  responses: { 200: Page('invitations', Invitation) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['invitations', principal.orgId] },
      (after, limit) => {
        let invitations = openInvitations(ctx.db).where('i.org_id', '=', principal.orgId);
        if (after !== null) invitations = invitations.where('i.id', '<', after);
        return invitations.orderBy('i.id', 'desc').limit(limit).execute();
      },
      (invitation) => invitation.id,
    );
    return {
      status: 200,
      body: { ok: true, invitations: rows.map((row) => invitationView(row, null)), ...rest },
    };
  },
});
