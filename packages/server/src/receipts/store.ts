/**
 * The statements on `operations`. The receipt of a write in one transaction is inserted by db/transaction.ts
 * at its commit; take-key.ts reads a receipt as it locks the key.
 */
import { sql } from 'kysely';
import type { Insertable, RawBuilder } from 'kysely';
import { databaseNow } from '../clock.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import { json } from '../db/schema.ts';
import type { Database, OperationRow } from '../db/schema.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import { seesProject } from '../http/principal.ts';
import type { WriteRequest } from '../http/write-request.ts';
import type { SealedRow, SealedRows } from '../sealed-rows.ts';
import { PURPOSE } from './sealed-answer.ts';
import { receiptChange } from './state.ts';

/** A claim, as long as nobody has taken it over: the fence rises with each owner. */
export interface ClaimId {
  operationId: string;
  fence: number;
}

/** What an event of the operation is published by. */
export type PublishedRow = Pick<OperationRow, 'org_id' | 'project_id' | 'path' | 'published' | 'status'>;

export const LEASE_SECONDS = 15;
/** As of a write in one transaction (db/transaction.ts). */
const RESERVED = sql<Date>`now() + interval '7 days 1 hour'`;
/** A released claim's operation can be read as long as a receipt is reserved. */
const RELEASED_KEPT = sql`interval '7 days 1 hour'`;
/** A retry may take a staged claim over once its lease is over; after this it is ended without one. */
const STAGED_GRACE_SECONDS = 5;

const SETTLED_NOW = { settled_at: sql<Date>`clock_timestamp()`, lease_until: null } as const;

/** What a refused write was for, as far as it was found. */
export interface Concerned {
  scope: EventScope;
  threadId: string | null;
}

/** The project and thread that a request names, where they are there and its caller may see them. */
export async function findConcerned(tx: Tx, { principal, names }: WriteRequest): Promise<Concerned> {
  const { orgId } = principal;
  const { rows } = await sql<{ id: string; kind: EventScope['feed'] }>`
    select p.id, p.kind from projects p where p.org_id = ${orgId} and p.deleted_at is null and p.id = ${
      names.threadId === null
        ? names.projectId
        : sql`(select t.project_id from threads t where t.id = ${names.threadId} and t.org_id = ${orgId} and t.deleted_at is null)`
    }`.execute(tx.db);
  const found = rows.find(({ id }) => seesProject(principal, id));
  return {
    scope: { orgId, projectId: found?.id ?? null, feed: found?.kind ?? 'direct' },
    threadId: found ? names.threadId : null,
  };
}

/** Frees the key of a receipt that is in the way. */
export async function deleteReceipt(tx: Tx, id: string): Promise<void> {
  await tx.db.deleteFrom('operations').where('id', '=', id).execute();
}

type NewClaim = Omit<
  Insertable<Database['operations']>,
  'status' | 'lease_until' | 'look_name' | 'look_target'
> & {
  isLeased: boolean;
  look: { name: string; target: Record<string, unknown> } | undefined;
};

function claimRow({ isLeased, look, ...row }: NewClaim) {
  return {
    ...row,
    status: 'pending' as const,
    lease_until: isLeased
      ? sql<Date>`clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'`
      : (null as RawBuilder<Date> | null),
    look_name: look?.name ?? null,
    look_target: look ? json(look.target) : null,
  };
}

export async function insertClaim(tx: Tx, claim: NewClaim): Promise<void> {
  await tx.db.insertInto('operations').values(claimRow(claim)).execute();
}

/** False where the claim was settled between our look and our lock. */
export async function takeClaimOver(tx: Tx, found: ClaimId, claim: NewClaim): Promise<boolean> {
  const taken = await tx.db
    .updateTable('operations')
    .set(claimRow(claim))
    .where('id', '=', found.operationId)
    .where('fence', '=', found.fence)
    .where('status', '=', 'pending')
    .executeTakeFirst();
  return taken.numUpdatedRows > 0n;
}

/** False where the claim is not this one's any more. */
export async function renewClaim(db: Db, { operationId, fence }: ClaimId): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('operations')
    .set({ lease_until: sql<Date>`clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'` })
    .where('id', '=', operationId)
    .where('fence', '=', fence)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Whether a claimed write is under way, or nobody knows what became of it. */
export async function isUnderWay(db: Db | Tx['db'], operationId: string): Promise<boolean> {
  const open = await db
    .selectFrom('operations')
    .select('id')
    .where('id', '=', operationId)
    .where('status', 'in', ['pending', 'uncertain'])
    .executeTakeFirst();
  return open !== undefined;
}

interface StoredAnswer {
  status: number;
  response: string;
  /** Whether the key stays taken: a retry gets this answer. */
  isReserved: boolean;
}

/** Stores the answer. Undefined where the receipt is not open, or has another fence. */
export async function settleReceipt(
  tx: Tx,
  { operationId, fence }: { operationId: string; fence?: number },
  { status, response, isReserved }: StoredAnswer,
): Promise<PublishedRow | undefined> {
  const { from, to } = receiptChange(status < 400 ? 'succeed' : 'fail');
  let update = tx.db
    .updateTable('operations')
    .set({
      status: to,
      response_status: status,
      response,
      reserved_until: isReserved ? RESERVED : null,
      ...SETTLED_NOW,
    })
    .where('id', '=', operationId)
    .where('status', 'in', from);
  if (fence !== undefined) update = update.where('fence', '=', fence);
  return update.returning(['org_id', 'project_id', 'path', 'published', 'status']).executeTakeFirst();
}

/** Stores the refusal that the claim's own work ended with. */
export async function refuseReceipt(
  tx: Tx,
  { operationId, fence }: ClaimId,
  { status, response, isReserved }: StoredAnswer,
): Promise<Pick<OperationRow, 'published'> | undefined> {
  const { from, to } = receiptChange('refuse');
  return (
    tx.db
      .updateTable('operations')
      // A released key leaves no reservation: the row stays, failed, so that its operation can still be read.
      .set({
        status: to,
        response_status: status,
        response,
        reserved_until: isReserved ? RESERVED : null,
        ...SETTLED_NOW,
      })
      .where('id', '=', operationId)
      .where('fence', '=', fence)
      .where('status', 'in', from)
      .returning('published')
      .executeTakeFirst()
  );
}

/** Makes a claim uncertain, and a look at it due at once. Undefined where it is not this one's any more. */
export async function loseReceipt(
  tx: Tx,
  { operationId, fence }: ClaimId,
): Promise<PublishedRow | undefined> {
  const { from, to } = receiptChange('lose');
  return tx.db
    .updateTable('operations')
    .set({
      status: to,
      fence: fence + 1,
      uncertain_at: sql<Date>`clock_timestamp()`,
      lease_until: sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', operationId)
    .where('fence', '=', fence)
    .where('status', 'in', from)
    .returning(['org_id', 'project_id', 'path', 'published', 'status'])
    .executeTakeFirst();
}

/** Claims whose process died. */
const lostClaims = sql<boolean>`status = 'pending' and lease_until < now() - case when look_name is null then ${STAGED_GRACE_SECONDS} else 0 end * interval '1 second'`;

export async function hasLostClaims(db: Db): Promise<boolean> {
  const lost = await db.selectFrom('operations').select('id').where(lostClaims).limit(1).executeTakeFirst();
  return lost !== undefined;
}

/** Locks those that no other process is at. */
export async function lockLostClaims(
  tx: Tx,
  limit: number,
): Promise<Pick<OperationRow, 'id' | 'fence' | 'look_name'>[]> {
  return tx.db
    .selectFrom('operations')
    .select(['id', 'fence', 'look_name'])
    .where(lostClaims)
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
}

/** Deletes receipts whose key is free again, and claims that were released long ago. */
export async function deleteOverReceipts(ctx: Pick<Context, 'db' | 'clock'>, limit: number): Promise<void> {
  const { db } = ctx;
  const now = databaseNow(ctx);
  await sql`delete from operations where id in (select id from operations where reserved_until < ${now} limit ${limit} for update skip locked)`.execute(
    db,
  );
  await sql`delete from operations where id in (select id from operations where reserved_until is null and settled_at < ${now} - ${RELEASED_KEPT} limit ${limit} for update skip locked)`.execute(
    db,
  );
}

/** An uncertain receipt that this process looks after. */
export type Uncertain = Pick<OperationRow, 'id' | 'fence' | 'look_name' | 'looks'> & {
  look_target: Record<string, unknown>;
  is_given_up: boolean;
};

/** Takes uncertain receipts whose look is due, for the length of a look's lease. */
export async function claimLooks(
  db: Db,
  { limit, leaseMs, giveUpDays }: { limit: number; leaseMs: number; giveUpDays: number },
): Promise<Uncertain[]> {
  const { rows } = await sql<Uncertain>`
    update operations set fence = fence + 1, lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where id in (select id from operations where status = 'uncertain' and lease_until < now() order by lease_until limit ${limit} for update skip locked)
    returning id, fence, look_name, look_target, looks, uncertain_at < clock_timestamp() - ${giveUpDays} * interval '1 day' as is_given_up`.execute(
    db,
  );
  return rows;
}

export async function renewLook(
  db: Db,
  { id, fence }: Pick<Uncertain, 'id' | 'fence'>,
  leaseMs: number,
): Promise<void> {
  await db
    .updateTable('operations')
    .set({ lease_until: sql<Date>`clock_timestamp() + ${leaseMs} * interval '1 millisecond'` })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('status', '=', 'uncertain')
    .execute();
}

/** The next look is due after the delay. */
export async function postponeLook(
  db: Db,
  { id, fence, looks }: Pick<Uncertain, 'id' | 'fence' | 'looks'>,
  delaySeconds: number,
): Promise<void> {
  await db
    .updateTable('operations')
    .set({
      looks: looks + 1,
      lease_until: sql<Date>`clock_timestamp() + ${delaySeconds} * interval '1 second'`,
    })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .where('status', '=', 'uncertain')
    .execute();
}

export const sealedAnswers: SealedRows = {
  what: 'answers of receipts',
  purpose: PURPOSE,
  async read(db, after, limit) {
    const { rows } = await sql<SealedRow>`
      select id, org_id || ' ' || actor_id || ' ' || idempotency_key as place, response_sealed as sealed from operations
      where response_sealed is not null and id > ${after} order by id limit ${limit}`.execute(db);
    return rows;
  },
  async write(db, { id, sealed: was }, sealed) {
    await db
      .updateTable('operations')
      .set({ response_sealed: sealed })
      .where('id', '=', id)
      .where('response_sealed', '=', was)
      .execute();
  },
};
