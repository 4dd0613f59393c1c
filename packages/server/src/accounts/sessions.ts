/** Sessions: what they say of themselves, and how one is opened. */
import { sql } from 'kysely';
import Type from 'typebox';
import type { Db } from '../db/database.ts';
import type { OrganizationRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { Enum, Id, Nullable, Ok, Text } from '../http/schemas.ts';
import type { Role } from '../http/principal.ts';
import { hashToken, makeToken, SESSION_SECONDS } from './session-cookie.ts';
import { deleteExpiredSessions, insertSession } from './store.ts';

export const RoleName = Enum(['owner', 'admin', 'member'] as const);
export const Organization = Type.Object({ id: Id('org'), name: Text('Acme'), role: RoleName });
export const Session = Ok({
  user: Type.Object({ id: Id('usr'), email: Text('kim@example.com'), name: Text('Kim') }),
  organizations: Type.Array(Organization),
  activeOrganizationId: Nullable(
    Id('org', 'The organization that this session acts in; null when its user is no longer a member.'),
  ),
});

export const organizationView = (organization: Pick<OrganizationRow, 'id' | 'name'>, role: Role) => ({
  id: organization.id,
  name: organization.name,
  role,
});

/** The user's organizations in the order in which they were joined. */
const organizationsOf = (db: Db | Tx['db'], userId: string) =>
  db
    .selectFrom('members as m')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .select(['o.id', 'o.name', 'm.role'])
    .where('m.user_id', '=', userId)
    .where('o.deleted_at', 'is', null)
    .orderBy('m.created_at')
    .orderBy('o.id')
    .execute();

/** The answer of GET /api/session for a user who acts in `activeOrgId`. */
export async function sessionBody(db: Db | Tx['db'], userId: string, activeOrgId: string | null) {
  const user = await db
    .selectFrom('users')
    .select(['id', 'email', 'name'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  const organizations = (await organizationsOf(db, userId)).map((o) => organizationView(o, o.role));
  return {
    ok: true as const,
    user,
    organizations,
    activeOrganizationId: organizations.find((o) => o.id === activeOrgId)?.id ?? null,
  };
}

/** Opens a session in the user's first organization. Returns the token for the cookie. */
export async function openSession(tx: Tx, userId: string): Promise<{ token: string; orgId: string | null }> {
  const token = makeToken();
  const [first] = await organizationsOf(tx.db, userId);
  const orgId = first?.id ?? null;
  await deleteExpiredSessions(tx, userId);
  await insertSession(tx, { tokenHash: hashToken(token), userId, orgId, seconds: SESSION_SECONDS });
  return { token, orgId };
}

export const findUser = (db: Db | Tx['db'], email: string) =>
  db
    .selectFrom('users')
    .selectAll()
    .where(sql<string>`lower(email)`, '=', email.toLowerCase())
    .executeTakeFirst();
