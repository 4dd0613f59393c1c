/**
 * Reads what a credential or a session gives access to, in one statement each. Times are compared by the
 * database's clock.
 */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { flatten, permissionsOfRole } from './permissions.ts';
import type { Principal } from '../http/principal.ts';
import { isFirst } from './sessions.ts';

export interface Loaded {
  /**
   * unknown: 401, as if there were no such key. suspended: 403, its account was last saved by a person who
   * is neither owner nor admin any more.
   */
  verdict: 'admitted' | 'suspended' | 'unknown';
  /** Null when unknown. */
  principal: Principal | null;
  /** A key's hash; a session's is its name. */
  secretHash: Buffer | null;
  orgId: string;
  userId: string | null;
  /** Until the credential or session expires. */
  endsInMs: number;
}

const endsInMs = (column: 'c.expires_at' | 's.expires_at') =>
  sql<number>`(extract(epoch from ${sql.ref(column)} - clock_timestamp()) * 1000)::float8`.as('ends_in_ms');

/** Credentials and their accounts, by the credentials' ids. */
export async function loadKeys(db: Db, credentialIds: string[]): Promise<Map<string, Loaded>> {
  const rows = await keyRows(db)
    .where(sql<boolean>`c.id = any(${credentialIds})`)
    .execute();
  return new Map(rows.map((row) => [row.id, loadedKey(row)]));
}

const keyRows = (db: Db) =>
  db
    .selectFrom('credentials as c')
    .innerJoin('service_accounts as a', 'a.id', 'c.account_id')
    .innerJoin('organizations as o', 'o.id', 'a.org_id')
    .leftJoin('members as m', (join) =>
      join.onRef('m.org_id', '=', 'a.org_id').onRef('m.user_id', '=', 'a.saved_by'),
    )
    .select([
      'c.id',
      'c.secret_hash',
      'c.revoked',
      'a.org_id',
      'a.id as account_id',
      'a.permissions',
      'a.project_ids',
      'a.disabled',
      'a.deleted_at',
      'a.saved_by',
      'o.platform_api',
      'o.without',
      'o.deleted_at as org_deleted_at',
      'm.role as saver_role',
      endsInMs('c.expires_at'),
    ]);
type KeyRow = Awaited<ReturnType<ReturnType<typeof keyRows>['execute']>>[number];

function loadedKey(row: KeyRow): Loaded {
  const isOver =
    row.revoked ||
    row.disabled ||
    row.deleted_at !== null ||
    row.org_deleted_at !== null ||
    row.ends_in_ms <= 0;
  const isSuspended = row.saved_by !== null && row.saver_role !== 'owner' && row.saver_role !== 'admin';
  return {
    verdict: isOver ? 'unknown' : isSuspended ? 'suspended' : 'admitted',
    principal: isOver
      ? null
      : {
          kind: 'key',
          orgId: row.org_id,
          actorId: row.account_id,
          accountId: row.account_id,
          userId: null,
          credentialId: row.id,
          role: null,
          permissions: flatten(row.permissions),
          projectIds: row.project_ids === null ? null : new Set(row.project_ids),
          platformApi: row.platform_api,
          without: row.without,
        },
    secretHash: row.secret_hash,
    orgId: row.org_id,
    userId: null,
    endsInMs: row.ends_in_ms,
  };
}

/**
 * Sessions, by their tokens' hashes in hex. Where a session's organization was deleted, or its user is no
 * member any more, it has no role and no permission there: it never slips into another organization by
 * itself.
 */
export async function loadSessions(db: Db, tokenHashes: Buffer[]): Promise<Map<string, Loaded>> {
  const rows = await sessionRows(db)
    .where(sql<boolean>`s.token_hash = any(${tokenHashes})`)
    .execute();
  return new Map(rows.map((row) => [row.token_hash.toString('hex'), loadedSession(row)]));
}

const sessionRows = (db: Db) =>
  db
    .selectFrom('sessions as s')
    .leftJoin('organizations as o', (join) =>
      join.onRef('o.id', '=', 's.active_org_id').on('o.deleted_at', 'is', null),
    )
    .leftJoin('members as m', (join) =>
      join.onRef('m.org_id', '=', 'o.id').onRef('m.user_id', '=', 's.user_id'),
    )
    .select([
      's.token_hash',
      's.user_id',
      's.active_org_id',
      'o.platform_api',
      'o.without',
      'm.role',
      isFirst('o.id'),
      endsInMs('s.expires_at'),
    ]);
type SessionRow = Awaited<ReturnType<ReturnType<typeof sessionRows>['execute']>>[number];

function loadedSession(row: SessionRow): Loaded {
  const orgId = row.active_org_id ?? '';
  const isOver = row.ends_in_ms <= 0;
  return {
    verdict: isOver ? 'unknown' : 'admitted',
    principal: isOver
      ? null
      : {
          kind: 'session',
          orgId,
          actorId: row.user_id,
          accountId: null,
          userId: row.user_id,
          credentialId: null,
          role: row.role,
          permissions: permissionsOfRole(row.role),
          projectIds: null,
          platformApi: row.platform_api ?? true,
          without: row.without ?? [],
          isOperator: row.is_first === true,
        },
    secretHash: null,
    orgId,
    userId: row.user_id,
    endsInMs: row.ends_in_ms,
  };
}
