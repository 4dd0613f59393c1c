/** The only writer of organizations, users, members, invitations, sessions, service accounts and credentials. */
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

export async function markInvitationAccepted(tx: Tx, id: string): Promise<void> {
  await tx.db
    .updateTable('invitations')
    .set({ accepted_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute();
}

interface NewSession {
  tokenHash: Buffer;
  userId: string;
  orgId: string | null;
  seconds: number;
}

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  await tx.db
    .insertInto('sessions')
    .values({
      token_hash: session.tokenHash,
      user_id: session.userId,
      active_org_id: session.orgId,
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

export async function deleteExpiredSessions(tx: Tx, userId: string): Promise<void> {
  await tx.db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('expires_at', '<', sql<Date>`now()`)
    .execute();
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
