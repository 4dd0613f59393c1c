/** Members as the API shows them. */
import Type from 'typebox';
import type { Db } from '../db/database.ts';
import type { MemberRow, UserRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';
import { Id, Text, Time } from '../http/schemas.ts';
import { RoleName } from './sessions.ts';

export const Member = Type.Object({
  userId: Id('usr'),
  email: Text('kim@example.com'),
  name: Text('Kim'),
  role: RoleName,
  createdAt: Time,
});

type MemberWithUser = Pick<MemberRow, 'user_id' | 'role' | 'created_at'> & Pick<UserRow, 'email' | 'name'>;

export const memberView = (m: MemberWithUser) => ({
  userId: m.user_id,
  email: m.email,
  name: m.name,
  role: m.role,
  createdAt: m.created_at.toISOString(),
});

const membersOf = (db: Db | Tx['db'], orgId: string) =>
  db
    .selectFrom('members as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['m.user_id', 'm.role', 'm.created_at', 'u.email', 'u.name'])
    .where('m.org_id', '=', orgId);

export async function findMember(db: Db | Tx['db'], orgId: string, userId: string): Promise<MemberWithUser> {
  const member = await membersOf(db, orgId).where('m.user_id', '=', userId).executeTakeFirst();
  if (!member) throw notFound('member');
  return member;
}

/** Newest users first, behind `after`. */
export function listMemberRows(
  db: Db,
  orgId: string,
  after: string | null,
  limit: number,
): Promise<MemberWithUser[]> {
  let query = membersOf(db, orgId);
  if (after !== null) query = query.where('m.user_id', '<', after);
  return query.orderBy('m.user_id', 'desc').limit(limit).execute();
}
