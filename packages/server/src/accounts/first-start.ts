/**
 * What an empty database gets: one organization, one owner, one service account with every permission and
 * one key.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Bus } from '../bus.ts';
import type { Config } from '../config.ts';
import { FIRST_START_LOCK } from '../db/advisory-locks.ts';
import type { Db } from '../db/database.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { insertLocalInstallation } from '../scm/index.ts';
import { credentialIdOf, hashKey, makeServiceKey } from './keys.ts';
import { hashPassword } from './passwords.ts';
import { PERMISSIONS } from './permissions.ts';
import {
  insertCredential,
  insertMember,
  insertOrganization,
  insertServiceAccount,
  insertUser,
} from './store.ts';

const BOOTSTRAP_KEY_YEARS = 10;

const isEmpty = async (db: Db | Tx['db']) =>
  (await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()) === undefined;

/**
 * Fills an empty database. Returns the lines to print: what was generated, known nowhere else afterwards.
 * Does nothing later on.
 */
export async function firstStart(ctx: {
  db: Db;
  bus: Bus;
  config: Pick<Config, 'ownerEmail' | 'ownerPassword' | 'bootstrapKey'>;
}): Promise<string[]> {
  if (!(await isEmpty(ctx.db))) return [];
  const { ownerEmail, ownerPassword, bootstrapKey } = ctx.config;
  const email = ownerEmail ?? 'owner@localhost';
  const password = ownerPassword ?? randomBytes(18).toString('base64url');
  const key = bootstrapKey ?? makeServiceKey();
  const passwordHash = await hashPassword(password);
  const isFirst = await transaction(ctx, async (tx) => {
    await sql`select pg_advisory_xact_lock(${FIRST_START_LOCK})`.execute(tx.db);
    if (!(await isEmpty(tx.db))) return false;
    const orgId = newId('org');
    await insertOrganization(tx, { id: orgId, name: 'Organization' });
    await insertLocalInstallation(tx, orgId);
    const userId = (await insertUser(tx, { email, name: 'Owner', passwordHash }))!;
    await insertMember(tx, { orgId, userId, role: 'owner' });
    const account = await insertServiceAccount(tx, {
      orgId,
      name: 'Bootstrap',
      permissions: PERMISSIONS as unknown as Record<string, string[]>,
      projectIds: null,
      savedBy: null,
    });
    await insertCredential(tx, account, {
      id: credentialIdOf(key),
      secretHash: hashKey(key),
      expiresAt: sql<Date>`now() + ${BOOTSTRAP_KEY_YEARS} * interval '1 year'`,
    });
    return true;
  });
  if (!isFirst) return [];
  return [
    ...(ownerEmail === null ? [`Owner's e-mail address: ${email}`] : []),
    ...(ownerPassword === null ? [`Owner's password (shown once): ${password}`] : []),
    ...(bootstrapKey === null ? [`Service key (shown once): ${key}`] : []),
  ];
}
