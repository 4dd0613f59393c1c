/** The only writer of `model_keys` and `usage_hours`. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ModelKeyRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { SealedRow, SealedRows } from '../sealed-rows.ts';
import { PURPOSE } from './model-keys.ts';

interface KeyOfProvider {
  orgId: string;
  provider: string;
}

/** Replaces the key that the organization has of the provider. */
export async function saveModelKey(
  tx: Tx,
  { orgId, provider, sealed }: KeyOfProvider & { sealed: Buffer },
): Promise<ModelKeyRow> {
  return tx.db
    .insertInto('model_keys')
    .values({ org_id: orgId, provider, key_sealed: sealed })
    .onConflict((oc) =>
      oc.columns(['org_id', 'provider']).doUpdateSet({ key_sealed: sealed, updated_at: sql<Date>`now()` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Undefined where the organization has no key of the provider. */
export async function removeModelKey(
  tx: Tx,
  { orgId, provider }: KeyOfProvider,
): Promise<ModelKeyRow | undefined> {
  return tx.db
    .deleteFrom('model_keys')
    .where('org_id', '=', orgId)
    .where('provider', '=', provider)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteModelKeysOf(tx: Tx, orgId: string): Promise<void> {
  await tx.db.deleteFrom('model_keys').where('org_id', '=', orgId).execute();
}

/** Hours of the last week that have runs, ended an hour ago, and are not closed. */
export async function hoursToClose(db: Db): Promise<{ orgId: string; hour: Date }[]> {
  const { rows } = await sql<{ orgId: string; hour: Date }>`
    select o.id as "orgId", hour
    from organizations o
    cross join generate_series(date_trunc('hour', now() - interval '7 days', 'UTC'), date_trunc('hour', now() - interval '2 hours', 'UTC'), interval '1 hour') hour
    where not exists (select from usage_hours u where u.org_id = o.id and u.project_id = '' and u.hour = hour.hour)
      and exists (select from runs r where r.org_id = o.id and r.created_at >= hour and r.created_at < hour + interval '1 hour')`.execute(
    db,
  );
  return rows;
}

/** Stores the sums of an hour, unless a run of it may still change. One statement, so one moment; it may be repeated. */
export async function closeHour(db: Db, orgId: string, hour: Date): Promise<void> {
  await sql`
    with begun as (
      select * from runs where org_id = ${orgId} and created_at >= ${hour} and created_at < ${hour}::timestamptz + interval '1 hour'
    )
    insert into usage_hours
    select ${orgId}, ${hour}, coalesce(project_id, ''), model_id, count(*), sum(input_tokens), sum(output_tokens), sum(cached_tokens), sum(cost_micros)
    from begun
    where not exists (select from begun where status in ('queued', 'running', 'waiting'))
      and not exists (select from model_calls c join begun b on b.id = c.run_id where c.status = 'open')
    group by grouping sets ((project_id, model_id), (model_id))
    on conflict do nothing`.execute(db);
}

export const sealedModelKeys: SealedRows = {
  what: 'model keys',
  purpose: PURPOSE,
  async read(db, after, limit) {
    const { rows } = await sql<SealedRow>`
      select id, id as place, sealed from (select org_id || ' ' || provider as id, key_sealed as sealed from model_keys) k
      where id > ${after} order by id limit ${limit}`.execute(db);
    return rows;
  },
  async write(db, { id, sealed: was }, sealed) {
    await db
      .updateTable('model_keys')
      .set({ key_sealed: sealed })
      .where(sql<string>`org_id || ' ' || provider`, '=', id)
      .where('key_sealed', '=', was)
      .execute();
  },
};
