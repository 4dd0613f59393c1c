/** The sender's statements on `webhook_subscriptions` and `webhook_deliveries`; those of the operations are in store.ts. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Client } from 'pg';
import { databaseNow } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { countChanged } from '../db/purge.ts';
import { rowsPrepared } from '../db/prepared.ts';
import type {
  DeliveredEvent,
  DeliveryAttempt,
  EventRow,
  WebhookDeliveryRow,
  WebhookSubscriptionRow,
} from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { Db } from '../db/database.ts';
import { newId } from '../ids.ts';
import type { Subscriber } from './match.ts';
import { deliveryChange } from './state.ts';
import type { DeliveryEvent } from './state.ts';
import type { SubscriptionChange } from './store.ts';

/** Rows of one statement. */
const BATCH = 2_000;

/**
 * The subscriptions that get new deliveries: enabled ones and paused ones, of organizations that have the
 * capability.
 */
export const findSubscribers = (tx: Tx, orgIds: readonly string[]): Promise<Subscriber[]> =>
  rowsPrepared(
    tx.db,
    'find_subscribers',
    tx.db
      .selectFrom('webhook_subscriptions as s')
      .innerJoin('organizations as o', 'o.id', 's.org_id')
      .select(['s.org_id', 's.id', 's.project_id', 's.types', 's.after_sequence'])
      .where(sql<boolean>`s.org_id = any(${[...orgIds]}::text[])`)
      .where('s.deleted_at', 'is', null)
      .where(sql<boolean>`coalesce(s.disabled_reason, 'user') = 'user'`)
      .where(sql<boolean>`not 'webhooks' = any(o.without)`),
  );

export interface NewDelivery {
  event: EventRow;
  subscriber: Pick<Subscriber, 'org_id' | 'id'>;
}

const deliveredEvent = (e: EventRow): DeliveredEvent => ({
  sequence: e.sequence,
  projectId: e.project_id,
  threadId: e.thread_id,
  runId: e.run_id,
  data: e.data,
  occurredAt: e.occurred_at.toISOString(),
  publishedAt: e.published_at.toISOString(),
});

/** Adds pending deliveries, numbered in the given order. An event's contents are passed to the database once. */
export async function insertDeliveries(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
  for (let from = 0; from < deliveries.length; from += BATCH) {
    const batch = deliveries.slice(from, from + BATCH);
    const events = [...new Set(batch.map(({ event }) => event))];
    const places = new Map(events.map((event, i) => [event, i + 1]));
    await sql`
      insert into webhook_deliveries (org_id, id, subscription_id, project_id, event_id, event_type, event, next_attempt_at)
      select d.org_id, d.id, d.subscription_id, e.project_id, e.id, e.type, e.event, e.published_at
      from unnest(${batch.map(({ subscriber }) => subscriber.org_id)}::text[], ${batch.map(() => newId('whd'))}::text[],
          ${batch.map(({ subscriber }) => subscriber.id)}::text[], ${batch.map(({ event }) => places.get(event)!)}::int[])
        with ordinality as d (org_id, id, subscription_id, place, number)
      join unnest(${events.map((e) => e.project_id)}::text[], ${events.map((e) => e.event_id)}::text[], ${events.map((e) => e.type)}::text[],
          ${events.map((e) => JSON.stringify(deliveredEvent(e)))}::jsonb[], ${events.map((e) => e.published_at)}::timestamptz[])
        with ordinality as e (project_id, id, type, event, published_at, place) on e.place = d.place
      order by d.number`.execute(tx.db);
  }
}

/** A delivery to attempt, with the present state of its subscription and of the log. */
export type DueDelivery = Pick<
  WebhookDeliveryRow,
  | 'org_id'
  | 'id'
  | 'subscription_id'
  | 'number'
  | 'event_id'
  | 'event_type'
  | 'event'
  | 'attempt_count'
  | 'attempts'
> &
  Pick<
    WebhookSubscriptionRow,
    'url' | 'secret_sealed' | 'former_secret_sealed' | 'former_secret_until' | 'failed_attempts'
  > & {
    /** Its project is a Platform app. */
    is_withheld: boolean;
    is_expired: boolean;
    /** Of the log. */
    generation: number;
    now: Date;
  };

/** Deliveries end unsent when they are older. */
const EXPIRES = `interval '7 days'`;

/** Nothing is sent for a deleted organization. One that loses the capability gets no further deliveries; these end. */
const SENDS = `
  join organizations o on o.id = s.org_id and o.deleted_at is null`;

/**
 * The due deliveries of subscription `s`, through the three indexes of pending rows; first attempts only after
 * `floor`. `$1` is added to the database's clock.
 */
const due = (columns: string, limit: string, floor: string) => `
  (select ${columns} from webhook_deliveries d where d.subscription_id = s.id and s.disabled_reason is null
     and d.status = 'pending' and d.attempt_count = 0 and d.number > ${floor} and d.id <> all($2::text[]) order by d.number limit ${limit})
  union all
  (select ${columns} from webhook_deliveries d where d.subscription_id = s.id and s.disabled_reason is null
     and d.status = 'pending' and d.attempt_count > 0 and d.next_attempt_at <= now() + $1 * interval '1 millisecond' and d.id <> all($2::text[])
     order by d.next_attempt_at, d.number limit ${limit})
  union all
  (select ${columns} from webhook_deliveries d where d.subscription_id = s.id and s.disabled_reason is not null
     and d.status = 'pending' and d.event_type = 'webhook.ping' and d.id <> all($2::text[])
     and (d.attempt_count = 0 or d.next_attempt_at <= now() + $1 * interval '1 millisecond') order by d.number limit ${limit})`;

const FIND_DUE = `
  select d.org_id, d.id, d.subscription_id, d.number, d.event_id, d.event_type, d.event, d.attempt_count, d.attempts,
    s.url, s.secret_sealed, s.former_secret_sealed, s.former_secret_until, s.failed_attempts,
    coalesce(p.kind = 'platform', false) as is_withheld, d.created_at <= now() + $1 * interval '1 millisecond' - ${EXPIRES} as is_expired,
    l.generation, now() as now
  from unnest($3::text[], $4::int[], $5::bigint[]) with ordinality as w (id, places, floor, rank)
  join webhook_subscriptions s on s.id = w.id and s.deleted_at is null ${SENDS}
  cross join log_state l
  cross join lateral (select * from (${due('d.id, d.next_attempt_at, d.number', 'w.places', 'w.floor')}) c order by next_attempt_at, number limit w.places) c
  join webhook_deliveries d on d.id = c.id
  left join projects p on p.id = d.project_id
  order by w.rank, c.next_attempt_at, c.number`;

export interface Wanted {
  subscriptionId: string;
  /** The maximum number of rows. */
  places: number;
  /** First attempts up to this number are not looked for. */
  floor: number;
}

/**
 * The due deliveries of these subscriptions, oldest first, at most as many as each has places, without those that
 * are `underWay`. First attempts are due regardless of the clock.
 */
export async function findDue(
  client: Client,
  { clock, underWay, wanted }: { clock: Clock; underWay: readonly string[]; wanted: readonly Wanted[] },
): Promise<DueDelivery[]> {
  const { rows } = await client.query<DueDelivery>({
    name: 'find-due',
    text: FIND_DUE,
    values: [
      clock.offsetMs,
      underWay,
      wanted.map(({ subscriptionId }) => subscriptionId),
      wanted.map(({ places }) => places),
      wanted.map(({ floor }) => floor),
    ],
  });
  return rows;
}

const FIND_SUBSCRIPTIONS = `
  select s.id from webhook_subscriptions s ${SENDS}
  where s.deleted_at is null and exists (${due('1', '1', '0')})`;

/** The subscriptions with a due delivery that is not `underWay`. */
export async function findSubscriptionsDue(
  client: Client,
  { clock, underWay }: { clock: Clock; underWay: readonly string[] },
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'find-subscriptions-due',
    text: FIND_SUBSCRIPTIONS,
    values: [clock.offsetMs, underWay],
  });
  return rows.map(({ id }) => id);
}

/** The delivery as it was when the attempt began: a row that has changed since is not updated. */
export type Attempted = Pick<DueDelivery, 'id' | 'subscription_id' | 'attempt_count' | 'attempts'>;

const KEPT_ATTEMPTS = 10;
const withAttempt = ({ attempts }: Attempted, attempt: DeliveryAttempt) =>
  JSON.stringify([...attempts, attempt].slice(-KEPT_ATTEMPTS));

const SETTLE_ACCEPTED = `
  with given as (
    select * from unnest($1::text[], $2::int[], $3::jsonb[]) as g (id, attempt_count, attempts)
  ), ended as (
    update webhook_deliveries d set status = '${deliveryChange('accept').to}', attempt_count = d.attempt_count + 1,
      attempts = g.attempts, next_attempt_at = null, finished_at = clock_timestamp()
    from given g where d.id = g.id and d.attempt_count = g.attempt_count and d.status = '${deliveryChange('accept').from}'
    returning d.subscription_id
  )
  update webhook_subscriptions s set failing_since = null, failed_attempts = 0
  where s.id in (select subscription_id from ended) and s.failing_since is not null`;

/** Ends accepted deliveries in one statement, and clears the failures of their subscriptions. */
export async function settleAccepted(
  client: Client,
  settled: readonly { delivery: Attempted; attempt: DeliveryAttempt }[],
): Promise<void> {
  await client.query({
    name: 'settle-accepted',
    text: SETTLE_ACCEPTED,
    values: [
      settled.map(({ delivery }) => delivery.id),
      settled.map(({ delivery }) => delivery.attempt_count),
      settled.map(({ delivery, attempt }) => withAttempt(delivery, attempt)),
    ],
  });
}

/** Stores a failed attempt and its consequence; false if the row has changed since. `nextMs`: delay of the next attempt. */
export async function settleFailed(
  tx: Tx,
  { clock }: { clock: Clock },
  {
    delivery,
    attempt,
    event,
    nextMs,
  }: { delivery: Attempted; attempt: DeliveryAttempt; event: DeliveryEvent; nextMs: number | null },
): Promise<boolean> {
  const { from, to, errorCode } = deliveryChange(event);
  const { numUpdatedRows } = await tx.db
    .updateTable('webhook_deliveries')
    .set({
      status: to,
      error_code: errorCode,
      attempt_count: delivery.attempt_count + 1,
      attempts: sql<DeliveryAttempt[]>`${withAttempt(delivery, attempt)}::jsonb`,
      next_attempt_at:
        to === 'pending' ? sql<Date>`${databaseNow({ clock })} + ${nextMs} * interval '1 millisecond'` : null,
      finished_at: to === 'pending' ? null : sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', delivery.id)
    .where('attempt_count', '=', delivery.attempt_count)
    .where('status', '=', from)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Ends pending deliveries without an attempt; `which` selects their ids. Returns their number. */
async function endUnsent(db: Db, which: RawBuilder<unknown>, event: Unsent): Promise<number> {
  const { from, to, errorCode } = deliveryChange(event);
  return countChanged(
    db,
    sql`update webhook_deliveries set status = ${to}, error_code = ${errorCode}, next_attempt_at = null, finished_at = clock_timestamp()
      where id in (${which}) and status = ${from}`,
  );
}

export type Unsent = 'withhold' | 'expire' | 'drop';

/** Ends these deliveries without an attempt. */
export const endDeliveries = (db: Db, ids: readonly string[], event: Unsent): Promise<number> =>
  endUnsent(db, sql`select unnest(${ids}::text[])`, event);

/** Expires at most `limit` deliveries, also those of paused subscriptions. */
export const expirePending = ({ db, clock }: { db: Db; clock: Clock }, limit: number): Promise<number> =>
  endUnsent(
    db,
    sql`select id from webhook_deliveries where status = 'pending' and created_at <= ${databaseNow({ clock })} - ${sql.raw(EXPIRES)}
      order by created_at limit ${limit}`,
    'expire',
  );

/** Removes at most `limit` deliveries that ended longer ago than the log's retention. */
export const deleteEnded = (
  { db, clock }: { db: Db; clock: Clock },
  retentionSeconds: number,
  limit: number,
): Promise<number> =>
  countChanged(
    db,
    sql`delete from webhook_deliveries where id in (
      select id from webhook_deliveries where status <> 'pending' and finished_at <= ${databaseNow({ clock })} - ${retentionSeconds}::int * interval '1 second'
      order by finished_at limit ${limit})`,
  );

/** The subscriptions with pending deliveries. */
export async function findSubscriptionsPending(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select s.id from webhook_subscriptions s where s.deleted_at is null and (
      exists (select from webhook_deliveries d where d.subscription_id = s.id and d.status = 'pending' and d.attempt_count = 0)
      or exists (select from webhook_deliveries d where d.subscription_id = s.id and d.status = 'pending' and d.attempt_count > 0))`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Ends the oldest pending deliveries of a subscription beyond `mostPending`, at most `limit`. Returns their number. */
export async function dropOverflow(
  db: Db,
  subscriptionId: string,
  { mostPending, limit }: { mostPending: number; limit: number },
): Promise<number> {
  const pending = (columns: string, order = '') => sql`
    (select ${sql.raw(columns)} from webhook_deliveries where subscription_id = ${subscriptionId} and status = 'pending' and attempt_count = 0 ${sql.raw(order)})
    union all
    (select ${sql.raw(columns)} from webhook_deliveries where subscription_id = ${subscriptionId} and status = 'pending' and attempt_count > 0 ${sql.raw(order)})`;
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select from (${pending('subscription_id')}) p limit ${mostPending + limit}) p`.execute(
    db,
  );
  const excess = rows[0]!.count - mostPending;
  if (excess <= 0) return 0;
  const oldest = sql`select id from (${pending('id, number', `order by number limit ${excess}`)}) o order by number limit ${excess}`;
  return endUnsent(db, oldest, 'drop');
}

/** Locks a subscription for the outcome of an attempt; undefined if it is deleted. */
export const lockSubscription = (tx: Tx, id: string) =>
  tx.db
    .selectFrom('webhook_subscriptions')
    .select(['org_id', 'disabled_reason', 'failing_since', 'failed_attempts', sql<Date>`now()`.as('now')])
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();

type Health = Pick<
  SubscriptionChange,
  'disabled_reason' | 'failing_since' | 'failed_attempts' | 'updated_at'
>;

export async function saveHealth(tx: Tx, id: string, health: Health): Promise<void> {
  await tx.db.updateTable('webhook_subscriptions').set(health).where('id', '=', id).execute();
}
