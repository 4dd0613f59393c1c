/**
 * Who may do what to accounts, organizations and members, where the role that an operation names
 * (http/authorize.ts) does not decide alone:
 *
 *   any session               acts on an organization only as its member; another one is answered as one that does not exist
 *   POST organizations        an owner of any organization
 *   DELETE organization       an owner of that organization
 *   make or change an owner   an owner
 *   the last owner            stays
 */
import type { Db } from '../db/database.ts';
import type { OrganizationRow, ServiceAccountRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, notFound } from '../http/errors.ts';
import type { Principal, Role } from '../http/principal.ts';

/** The organization with the caller's role in it; `lock`: for update. */
export async function loadOrganization(
  db: Db | Tx['db'],
  principal: Principal,
  id: string,
  lock: 'none' | 'update' = 'none',
): Promise<OrganizationRow & { role: Role }> {
  let query = db
    .selectFrom('organizations as o')
    .innerJoin('members as m', 'm.org_id', 'o.id')
    .selectAll('o')
    .select('m.role')
    .where('o.id', '=', id)
    .where('m.user_id', '=', principal.userId)
    .where('o.deleted_at', 'is', null);
  if (lock === 'update') query = query.forUpdate('o');
  const organization = await query.executeTakeFirst();
  if (!organization) throw notFound('organization');
  return organization;
}

/** Receipts belong to the organization that a session acts in. */
export function requireOrganization(principal: Principal): void {
  if (principal.orgId === '')
    throw new ApiError(
      'forbidden',
      'You are a member of no organization. Sign in again once you were invited.',
    );
}

export async function requireOwnerAnywhere(db: Db | Tx['db'], principal: Principal): Promise<void> {
  const owned = await db
    .selectFrom('members as m')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .select('o.id')
    .where('m.user_id', '=', principal.userId)
    .where('m.role', '=', 'owner')
    .where('o.deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (!owned) throw new ApiError('forbidden', 'This takes the role owner in an organization.');
}

/** Only an owner makes or changes an owner. */
export function requireRank(principal: Principal, ...roles: Role[]): void {
  if (principal.role !== 'owner' && roles.includes('owner'))
    throw new ApiError('forbidden', 'Only an owner makes, changes or removes an owner.');
}

/** Takes the organization's lock, so that two owners cannot step down at once. */
export async function lockOrganization(tx: Tx, orgId: string): Promise<void> {
  await tx.db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', orgId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

export async function requireOtherOwner(tx: Tx, orgId: string, userId: string): Promise<void> {
  const other = await tx.db
    .selectFrom('members')
    .select('user_id')
    .where('org_id', '=', orgId)
    .where('role', '=', 'owner')
    .where('user_id', '<>', userId)
    .limit(1)
    .executeTakeFirst();
  if (!other)
    throw new ApiError('conflict', 'An organization keeps an owner. Make somebody else an owner first.');
}

/** A service account of the organization that the session acts in. */
export async function loadServiceAccount(
  db: Db | Tx['db'],
  principal: Principal,
  id: string,
  lock: 'none' | 'update' = 'none',
): Promise<ServiceAccountRow> {
  let query = db
    .selectFrom('service_accounts')
    .selectAll()
    .where('org_id', '=', principal.orgId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null);
  if (lock === 'update') query = query.forUpdate();
  const account = await query.executeTakeFirst();
  if (!account) throw notFound('service_account');
  return account;
}
