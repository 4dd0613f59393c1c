/**
 * The only writer of organizations, users, members, invitations, sessions, attempts to sign in, service
 * accounts and credentials.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import { json } from '../db/schema.ts';
import type {
  CredentialRow,
  InvitationRow,
  OrganizationRow,
  ServiceAccountRow,
  StoredSettings,
} from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { Capability } from '../http/capabilities.ts';
import type { Role } from '../http/principal.ts';
import { newId } from '../ids.ts';

export async function insertOrganization(tx: Tx, row: Pick<OrganizationRow, 'id' | 'name'>): Promise<void> {
  await tx.db.insertInto('organizations').values(row).execute();
}

export async function setOrganizationSettings(
  tx: Tx,
  orgId: string,
  settings: StoredSettings,
): Promise<void> {
  await tx.db
    .updateTable('organizations')
    .set({ settings: json(settings) })
    .where('id', '=', orgId)
    .execute();
}

export async function markOrganizationDeleted(tx: Tx, orgId: string): Promise<void> {
  await tx.db
    .updateTable('organizations')
    .set({ deleted_at: sql<Date>`now()` })
    .where('id', '=', orgId)
    .execute();
}

/**
 * The operator gives or takes an organization's access to /api/platform. Returns false where there is no
 * such organization. Running processes notice within a second (access.ts).
 */
export async function setPlatformApi(db: Db, orgId: string, value: boolean): Promise<boolean> {
  const updated = await db
    .updateTable('organizations')
    .set({ platform_api: value })
    .where('id', '=', orgId)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return updated !== undefined;
}

/** The operator takes these capabilities from an organization, and gives it all others; as setPlatformApi. */
export async function setWithout(db: Db, orgId: string, without: readonly Capability[]): Promise<boolean> {
  const updated = await db
    .updateTable('organizations')
    .set({ without: [...without] })
    .where('id', '=', orgId)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return updated !== undefined;
}

/** Returns the user's id; undefined where the address has a user already. */
export async function insertUser(
  tx: Tx,
  user: { email: string; name: string; passwordHash: string },
): Promise<string | undefined> {
  const row = await tx.db
    .insertInto('users')
    .values({ id: newId('usr'), email: user.email, name: user.name, password_hash: user.passwordHash })
    .onConflict((oc) => oc.doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

export async function setPassword(tx: Tx, userId: string, passwordHash: string): Promise<void> {
  await tx.db.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', userId).execute();
}

interface Membership {
  orgId: string;
  userId: string;
}

/** Changes nothing where the user is a member already. */
export async function insertMember(
  tx: Tx,
  { orgId, userId, role }: Membership & { role: Role },
): Promise<void> {
  await tx.db
    .insertInto('members')
    .values({ org_id: orgId, user_id: userId, role })
    .onConflict((oc) => oc.doNothing())
    .execute();
}

export async function setMemberRole(
  tx: Tx,
  { orgId, userId, role }: Membership & { role: Role },
): Promise<void> {
  await tx.db
    .updateTable('members')
    .set({ role })
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .execute();
}

export async function deleteMember(tx: Tx, { orgId, userId }: Membership): Promise<void> {
  await tx.db.deleteFrom('members').where('org_id', '=', orgId).where('user_id', '=', userId).execute();
}

interface NewInvitation {
  orgId: string;
  email: string;
  role: Role;
  tokenHash: Buffer;
  invitedBy: string;
  days: number;
}

export async function insertInvitation(tx: Tx, invitation: NewInvitation): Promise<InvitationRow> {
  return tx.db
    .insertInto('invitations')
    .values({
      org_id: invitation.orgId,
      id: newId('inv'),
      email: invitation.email,
      role: invitation.role,
      token_hash: invitation.tokenHash,
      invited_by: invitation.invitedBy,
      expires_at: sql<Date>`now() + ${invitation.days} * interval '1 day'`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Other invitations of the organization to that address end: a link that is left over would make a member
 * again of a person who was removed. One that is accepted at the moment is skipped.
 */
export async function markInvitationAccepted(
  tx: Tx,
  { id, org_id, email }: Pick<InvitationRow, 'id' | 'org_id' | 'email'>,
): Promise<void> {
  await tx.db
    .updateTable('invitations')
    .set({ accepted_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute();
  await sql`delete from invitations where id in (
    select id from invitations where org_id = ${org_id} and lower(email) = ${email.toLowerCase()} and accepted_at is null
    for update skip locked)`.execute(tx.db);
}

/** Undefined where the organization has no such invitation that can still be accepted. */
export async function deleteInvitation(
  tx: Tx,
  orgId: string,
  id: string,
): Promise<InvitationRow | undefined> {
  return tx.db
    .deleteFrom('invitations')
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .returningAll()
    .executeTakeFirst();
}

interface NewSession {
  tokenHash: Buffer;
  userId: string;
  orgId: string | null;
  address: string;
  userAgent: string | null;
  seconds: number;
}

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  await tx.db
    .insertInto('sessions')
    .values({
      id: newId('ses'),
      token_hash: session.tokenHash,
      user_id: session.userId,
      active_org_id: session.orgId,
      address: session.address,
      user_agent: session.userAgent,
      expires_at: sql<Date>`now() + ${session.seconds} * interval '1 second'`,
    })
    .execute();
}

export async function setActiveOrganization(tx: Tx, tokenHash: Buffer, orgId: string): Promise<void> {
  await tx.db
    .updateTable('sessions')
    .set({ active_org_id: orgId })
    .where('token_hash', '=', tokenHash)
    .execute();
}

export async function deleteSession(tx: Tx, tokenHash: Buffer): Promise<void> {
  await tx.db.deleteFrom('sessions').where('token_hash', '=', tokenHash).execute();
}

/** All sessions of the user but the one with this token. */
export async function deleteSessionsOf(tx: Tx, userId: string, keptTokenHash: Buffer | null): Promise<void> {
  let sessions = tx.db.deleteFrom('sessions').where('user_id', '=', userId);
  if (keptTokenHash) sessions = sessions.where('token_hash', '<>', keptTokenHash);
  await sessions.execute();
}

export async function deleteExpiredSessions(tx: Tx, userId: string): Promise<void> {
  await tx.db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('expires_at', '<', sql<Date>`now()`)
    .execute();
}

/** An account by the hash of its e-mail address, and where the attempt to sign in comes from. */
export interface Attempt {
  account: Buffer;
  network: string;
}

/** Failures are forgotten after an hour without one. */
const FAILURES_LAST = sql<Date>`now() + interval '1 hour'`;
const NETWORK_IS_KNOWN = sql<Date>`now() + interval '180 days'`;
const OLD_BATCH = 20;

/** Locks the account's failures to the end of the transaction, and returns their number. */
export async function lockSignInFailures(tx: Tx, account: Buffer): Promise<number> {
  const row = await tx.db
    .insertInto('sign_in_failures')
    .values({ account, failures: 0, expires_at: FAILURES_LAST })
    .onConflict((oc) =>
      oc.column('account').doUpdateSet({
        failures: sql<number>`case when sign_in_failures.expires_at < now() then 0 else sign_in_failures.failures end`,
      }),
    )
    .returning('failures')
    .executeTakeFirstOrThrow();
  return row.failures;
}

/** A network without an attempt yet begins to wait. */
export async function noteWaitingNetwork(tx: Tx, attempt: Attempt): Promise<void> {
  await tx.db
    .insertInto('sign_in_networks')
    .values({ ...attempt, is_known: false, attempted_at: sql<Date>`now()`, expires_at: FAILURES_LAST })
    .execute();
}

/** Counts the attempt as a failure until it is known to be none. The account is locked. */
export async function countSignInFailure(tx: Tx, attempt: Attempt): Promise<void> {
  await tx.db
    .updateTable('sign_in_failures')
    .set({ failures: sql<number>`failures + 1`, expires_at: FAILURES_LAST })
    .where('account', '=', attempt.account)
    .execute();
  await tx.db
    .insertInto('sign_in_networks')
    .values({ ...attempt, is_known: false, attempted_at: sql<Date>`now()`, expires_at: FAILURES_LAST })
    .onConflict((oc) =>
      oc.columns(['account', 'network']).doUpdateSet({
        attempted_at: sql<Date>`now()`,
        expires_at: sql<Date>`greatest(sign_in_networks.expires_at, excluded.expires_at)`,
      }),
    )
    .execute();
}

export async function uncountSignInFailure(tx: Tx, account: Buffer): Promise<void> {
  await tx.db
    .updateTable('sign_in_failures')
    .set({ failures: sql<number>`greatest(failures - 1, 0)` })
    .where('account', '=', account)
    .execute();
}

/** The right password came from this network. */
export async function rememberNetwork(tx: Tx, { account, network }: Attempt): Promise<void> {
  await tx.db
    .updateTable('sign_in_networks')
    .set({ is_known: true, expires_at: NETWORK_IS_KNOWN })
    .where('account', '=', account)
    .where('network', '=', network)
    .execute();
}

/** All networks of the account but `kept` are unknown again. */
export async function forgetNetworks(tx: Tx, account: Buffer, kept: string | null): Promise<void> {
  let networks = tx.db.deleteFrom('sign_in_networks').where('account', '=', account);
  if (kept !== null) networks = networks.where('network', '<>', kept);
  await networks.execute();
}

/** A few at each attempt, so that nothing has to sweep what made-up addresses leave. */
export async function deleteOldAttempts(tx: Tx): Promise<void> {
  const old = sql`select ctid from sign_in_networks where expires_at < now() limit ${OLD_BATCH} for update skip locked`;
  await sql`delete from sign_in_networks where ctid = any(array(${old}))`.execute(tx.db);
  const oldFailures = sql`select ctid from sign_in_failures where expires_at < now() limit ${OLD_BATCH} for update skip locked`;
  await sql`delete from sign_in_failures where ctid = any(array(${oldFailures}))`.execute(tx.db);
}

interface NewServiceAccount {
  orgId: string;
  name: string;
  permissions: Record<string, string[]>;
  projectIds: string[] | null;
  /** The user who answers for it. */
  savedBy: string | null;
}

export async function insertServiceAccount(tx: Tx, account: NewServiceAccount): Promise<ServiceAccountRow> {
  return tx.db
    .insertInto('service_accounts')
    .values({
      org_id: account.orgId,
      id: newId('sa'),
      name: account.name,
      permissions: json(account.permissions),
      project_ids: account.projectIds,
      saved_by: account.savedBy,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

interface ServiceAccountChange {
  name?: string | undefined;
  permissions?: Record<string, string[]> | undefined;
  projectIds?: string[] | null | undefined;
  disabled?: boolean | undefined;
  savedBy: string | null;
}

export async function saveServiceAccount(
  tx: Tx,
  id: string,
  change: ServiceAccountChange,
): Promise<ServiceAccountRow> {
  return tx.db
    .updateTable('service_accounts')
    .set({
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.permissions === undefined ? {} : { permissions: json(change.permissions) }),
      ...(change.projectIds === undefined ? {} : { project_ids: change.projectIds }),
      ...(change.disabled === undefined ? {} : { disabled: change.disabled }),
      saved_by: change.savedBy,
      updated_at: sql<Date>`greatest(now(), updated_at + interval '1 millisecond')`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function markServiceAccountDeleted(tx: Tx, id: string): Promise<void> {
  await tx.db
    .updateTable('service_accounts')
    .set({ deleted_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute();
}

interface NewCredential {
  id: string;
  secretHash: Buffer;
  expiresAt: RawBuilder<Date>;
}

export async function insertCredential(
  tx: Tx,
  account: Pick<ServiceAccountRow, 'id' | 'org_id'>,
  credential: NewCredential,
): Promise<CredentialRow> {
  return tx.db
    .insertInto('credentials')
    .values({
      org_id: account.org_id,
      id: credential.id,
      account_id: account.id,
      secret_hash: credential.secretHash,
      expires_at: credential.expiresAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Undefined where the account has no such credential. */
export async function markCredentialRevoked(
  tx: Tx,
  accountId: string,
  id: string,
): Promise<CredentialRow | undefined> {
  return tx.db
    .updateTable('credentials')
    .set({ revoked: true })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

interface Use {
  name: string;
  at: Date;
}

/**
 * Credentials by id, sessions by their token's hash in hex. A row that another transaction writes at the
 * moment is skipped: batches of two processes would wait for each other's rows.
 */
export async function markUsed(
  db: Db,
  { credentials, sessions }: { credentials: Use[]; sessions: Use[] },
): Promise<void> {
  const names = (uses: Use[]) => uses.map((use) => use.name);
  const times = (uses: Use[]) => uses.map((use) => use.at);
  if (credentials.length > 0)
    await sql`
      update credentials c set last_used_at = used.at
      from (
        select id, at from credentials join unnest(${names(credentials)}::text[], ${times(credentials)}::timestamptz[]) as u(name, at) on name = id
        where last_used_at is null or last_used_at < at
        for update of credentials skip locked
      ) used
      where c.id = used.id`.execute(db);
  if (sessions.length > 0)
    await sql`
      update sessions s set last_seen_at = used.at
      from (
        select token_hash, at from sessions join unnest(${names(sessions)}::text[], ${times(sessions)}::timestamptz[]) as u(name, at) on decode(name, 'hex') = token_hash
        where last_seen_at < at
        for update of sessions skip locked
      ) used
      where s.token_hash = used.token_hash`.execute(db);
}

/** Empties deleted organizations: their names and settings, those of their accounts, and whom they invited. */
export async function markOrganizationsPurged(db: Db, orgIds: readonly string[]): Promise<void> {
  await db.deleteFrom('invitations').where('org_id', 'in', orgIds).execute();
  await db.updateTable('service_accounts').set({ name: '' }).where('org_id', 'in', orgIds).execute();
  await db
    .updateTable('organizations')
    .set({ name: '', settings: json({}), purged_at: sql<Date>`now()` })
    .where('id', 'in', orgIds)
    .execute();
}

/**
 * Locks an organization that is not deleted, so that concurrent calls do not exceed one of its limits together. Returns
 * whether it exists. It is locked before any of its projects, as its deletion does.
 */
export async function lockOrganization(tx: Tx, orgId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', orgId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row !== undefined;
}
