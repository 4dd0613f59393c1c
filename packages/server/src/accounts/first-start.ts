/**
 * What an empty database gets: one organization, one owner, one service account with every permission and
 * one key.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Config } from '../config.ts';
import { FIRST_START_LOCK } from '../db/advisory-locks.ts';
import type { Db } from '../db/database.ts';
import { json } from '../db/schema.ts';
import { newId } from '../ids.ts';
import { credentialIdOf, hashKey, makeServiceKey } from './keys.ts';
import { hashPassword } from './passwords.ts';
import { PERMISSIONS } from './permissions.ts';

const BOOTSTRAP_KEY_YEARS = 10;

const isEmpty = async (db: Db) =>
  (await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()) === undefined;

/**
 * Fills an empty database. Returns the lines to print: what was generated, known nowhere else afterwards.
 * Does nothing later on.
 */
export async function firstStart(ctx: {
  db: Db;
  config: Pick<Config, 'ownerEmail' | 'ownerPassword' | 'bootstrapKey'>;
}): Promise<string[]> {
  if (!(await isEmpty(ctx.db))) return [];
  const { ownerEmail, ownerPassword, bootstrapKey } = ctx.config;
  const email = ownerEmail ?? 'owner@localhost';
  const password = ownerPassword ?? randomBytes(18).toString('base64url');
  const key = bootstrapKey ?? makeServiceKey();
  const passwordHash = await hashPassword(password);
  const isFirst = await ctx.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${FIRST_START_LOCK})`.execute(tx);
    if (!(await isEmpty(tx))) return false;
    const [orgId, userId, accountId] = [newId('org'), newId('usr'), newId('sa')];
    await tx.insertInto('organizations').values({ id: orgId, name: 'Organization' }).execute();
    await tx
      .insertInto('users')
      .values({ id: userId, email, name: 'Owner', password_hash: passwordHash })
      .execute();
    await tx.insertInto('members').values({ org_id: orgId, user_id: userId, role: 'owner' }).execute();
    await tx
      .insertInto('service_accounts')
      .values({
        org_id: orgId,
        id: accountId,
        name: 'Bootstrap',
        permissions: json(PERMISSIONS as unknown as Record<string, string[]>),
        project_ids: null,
        saved_by: null,
      })
      .execute();
    await tx
      .insertInto('credentials')
      .values({
        org_id: orgId,
        id: credentialIdOf(key),
        account_id: accountId,
        secret_hash: hashKey(key),
        expires_at: sql<Date>`now() + ${BOOTSTRAP_KEY_YEARS} * interval '1 year'`,
      })
      .execute();
    return true;
  });
  if (!isFirst) return [];
  return [
    ...(ownerEmail === null ? [`Owner's e-mail address: ${email}`] : []),
    ...(ownerPassword === null ? [`Owner's password (shown once): ${password}`] : []),
    ...(bootstrapKey === null ? [`Service key (shown once): ${key}`] : []),
  ];
}
