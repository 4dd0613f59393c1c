/** Sessions: what they say of themselves, and how one is opened. */
import { sql } from 'kysely';
import Type from 'typebox';
import type { Config } from '../config.ts';
import type { Db } from '../db/database.ts';
import type { OrganizationRow, SessionRow, UserRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { Enum, Id, Nullable, Ok, Text, Time } from '../http/schemas.ts';
import type { Call } from '../http/operation.ts';
import type { Capability } from '../http/capabilities.ts';
import type { Role } from '../http/principal.ts';
import { Permissions, shownPermissions } from './permissions.ts';
import { hashToken, makeToken, SESSION_SECONDS } from './session-cookie.ts';
import { deleteExpiredSessions, insertSession } from './store.ts';

const USER_AGENT_LENGTH = 500;

export const RoleName = Enum(['owner', 'admin', 'member'] as const);
export const Organization = Type.Object({ id: Id('org'), name: Text('Acme'), role: RoleName });
export const Session = Ok({
  user: Type.Object({ id: Id('usr'), email: Text('kim@example.com'), name: Text('Kim') }),
  organizations: Type.Array(Organization),
  activeOrganizationId: Nullable(
    Id('org', 'The organization that this session acts in; null when its user is no longer a member.'),
  ),
  entitlements: Type.Object(
    {
      platformApi: Type.Boolean(),
      sourceControl: Type.Boolean(),
      automations: Type.Boolean(),
      webhooks: Type.Boolean(),
      hosts: Type.Boolean(),
    },
    { description: 'What the operator lets that organization use.' },
  ),
  permissions: { ...Permissions, description: "What the user's role allows in that organization." },
  isOperator: Type.Boolean({
    description:
      'That organization is the first one: its owners and admins see the state of the whole service.',
  }),
});

/** A session as its user sees it among others. */
export const OpenSession = Type.Object({
  id: Id('ses'),
  current: Type.Boolean({ examples: [true], description: 'This is the session that asks.' }),
  address: Nullable(Text('203.0.113.7', { description: 'The network address that it was opened from.' })),
  userAgent: Nullable(Text('Mozilla/5.0 (X11; Linux x86_64)')),
  createdAt: Time,
  lastSeenAt: Type.String({ ...Time, description: 'Exact to about a minute.' }),
});

export const openSessionView = (session: SessionRow, asking: Buffer) => ({
  id: session.id,
  current: session.token_hash.equals(asking),
  address: session.address,
  userAgent: session.user_agent,
  createdAt: session.created_at.toISOString(),
  lastSeenAt: session.last_seen_at.toISOString(),
});

export const openSessionsOf = (db: Db | Tx['db'], userId: string) =>
  db
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('expires_at', '>', sql<Date>`now()`);

export const organizationView = (organization: Pick<OrganizationRow, 'id' | 'name'>, role: Role) => ({
  id: organization.id,
  name: organization.name,
  role,
});

/** Ids rise with time. A deleted one counts: nobody gets its place. */
export const isFirst = (id: string) =>
  sql<boolean | null>`${sql.ref(id)} = (select min(id) from organizations)`.as('is_first');

/** The user's organizations in the order in which they were joined. */
export const organizationsOf = (db: Db | Tx['db'], userId: string) =>
  db
    .selectFrom('members as m')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .select(['o.id', 'o.name', 'o.platform_api', 'o.without', 'm.role'])
    .select(isFirst('o.id'))
    .where('m.user_id', '=', userId)
    .where('o.deleted_at', 'is', null)
    .orderBy('m.created_at')
    .orderBy('o.id')
    .execute();

/** The answer of GET /api/session for a user who acts in `activeOrgId`. */
export async function sessionBody(
  { disabled }: Pick<Config, 'disabled'>,
  db: Db | Tx['db'],
  userId: string,
  activeOrgId: string | null,
) {
  const user = await db
    .selectFrom('users')
    .select(['id', 'email', 'name'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  const organizations = await organizationsOf(db, userId);
  const active = organizations.find((o) => o.id === activeOrgId);
  const has = (capability: Capability) =>
    active !== undefined && !active.without.includes(capability) && !disabled.includes(capability);
  return {
    ok: true as const,
    user,
    organizations: organizations.map((o) => organizationView(o, o.role)),
    activeOrganizationId: active?.id ?? null,
    entitlements: {
      platformApi: active?.platform_api ?? false,
      sourceControl: has('sourceControl'),
      automations: has('automations'),
      webhooks: has('webhooks'),
      hosts: has('hosts'),
    },
    permissions: shownPermissions(active?.role ?? null),
    isOperator: active?.is_first === true,
  };
}

/**
 * Locks the user's password as it is; throws `refusal` where it is not the one that was looked at, so that
 * nothing is done by a password that was changed meanwhile.
 */
export async function requirePasswordHash(
  tx: Tx,
  looked: Pick<UserRow, 'id' | 'password_hash'>,
  refusal: () => Error,
): Promise<void> {
  const user = await tx.db
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', looked.id)
    .forUpdate()
    .executeTakeFirst();
  if (user?.password_hash !== looked.password_hash) throw refusal();
}

/**
 * Opens a session in the user's first organization, for the browser that calls. Returns the token for the
 * cookie.
 */
export async function openSession(
  tx: Tx,
  userId: string,
  { headers, address }: Pick<Call, 'headers' | 'address'>,
): Promise<{ token: string; orgId: string | null }> {
  const token = makeToken();
  const [first] = await organizationsOf(tx.db, userId);
  const orgId = first?.id ?? null;
  await deleteExpiredSessions(tx, userId);
  await insertSession(tx, {
    tokenHash: hashToken(token),
    userId,
    orgId,
    address,
    userAgent: headers['user-agent']?.slice(0, USER_AGENT_LENGTH) ?? null,
    seconds: SESSION_SECONDS,
  });
  return { token, orgId };
}

export const findUser = (db: Db | Tx['db'], email: string) =>
  db
    .selectFrom('users')
    .selectAll()
    .where(sql<string>`lower(email)`, '=', email.toLowerCase())
    .executeTakeFirst();
