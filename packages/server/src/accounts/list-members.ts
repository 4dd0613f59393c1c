import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { listMemberRows, Member, memberView } from './members.ts';

export const listMembers = read({
  name: 'accounts.listMembers',
  summary: 'List the members of the organization',
  access: { session: 'member' },
  query: ListQuery(),
  responses: { 200: Page('members', Member) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['members', principal.orgId] },
      (after, limit) => listMemberRows(ctx.db, principal.orgId, after, limit),
      (m) => m.user_id,
    );
    return { status: 200, body: { ok: true, members: rows.map(memberView), ...rest } };
  },
});
