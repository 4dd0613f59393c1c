/** The only writer of `runners` and `runner_places`. What is ready, suspect, lost and gone: fleet.ts. */
import { GONE_MS, LOST_MS, PROTOCOL_RANGE, SUSPECT_MS } from '@headrace/runner/registration';
import type { RegistrationRequest } from '@headrace/runner/registration';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { preparedAs } from '../db/prepared.ts';
import type { RunnerRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { wakeFirstWaiting } from '../jobs/store.ts';
import { DRAWN, WARM_LOAD } from './choose.ts';
import type { Candidate } from './choose.ts';

export interface Report extends RegistrationRequest {
  bootId: string;
}

/** A runner as whoever calls it knows it. */
export type KnownRunner = Pick<
  RunnerRow,
  'boot_id' | 'name' | 'address' | 'state' | 'status' | 'is_draining' | 'is_ok'
>;

/** What jobs wait for that no runner has room for. */
export const ROOM = 'runners';

const ago = (ms: number) => sql`now() - ${ms} * interval '1 millisecond'`;

/** Takes new work, by the last round of reports. Its version is one that this process speaks. */
const isUsable = sql<boolean>`state = 'ready' and is_ok and not is_draining and last_seen_at > ${ago(SUSPECT_MS)}
  and protocol[1] <= ${PROTOCOL_RANGE[1]} and protocol[2] >= ${PROTOCOL_RANGE[0]}`;

/**
 * Records what runners report, all in one statement; returns the ids of those that count as gone, of which
 * nothing is recorded. Large values that did not change are not written again.
 */
export async function recordReports(db: Db, reports: readonly Report[]): Promise<Set<string>> {
  const rows = reports
    .toSorted((a, b) => (a.bootId < b.bootId ? -1 : 1))
    .map(({ bootId, status, groups, ...r }) => ({
      boot_id: bootId,
      name: r.name,
      address: r.address,
      pool: r.pool,
      protocol: r.protocol,
      capacity: r.capacity,
      is_draining: r.isDraining,
      is_ok: status.ok,
      memory_bytes: status.load?.memoryBytes ?? null,
      free_bytes: status.load?.freeBytes ?? null,
      groups,
      status,
    }));
  const query = sql<{ boot_id: string; address: string; is_new: boolean }>`
    with reported as (
      select boot_id, name, address, pool, array(select jsonb_array_elements_text(protocol)::integer) as protocol, capacity, is_draining, is_ok,
        memory_bytes, free_bytes, array(select jsonb_array_elements_text(groups)) as groups, status
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (boot_id text, name text, address text, pool text, protocol jsonb, capacity integer,
        is_draining boolean, is_ok boolean, memory_bytes bigint, free_bytes bigint, groups jsonb, status jsonb)
    )
    insert into runners as k (boot_id, name, address, pool, protocol, capacity, is_draining, is_ok, memory_bytes, free_bytes, groups, status)
    select boot_id, name, address, pool, protocol, capacity, is_draining, is_ok, memory_bytes, free_bytes, groups, status from reported
    on conflict (boot_id) do update set name = excluded.name, address = excluded.address, pool = excluded.pool, protocol = excluded.protocol,
      capacity = excluded.capacity, is_draining = excluded.is_draining, is_ok = excluded.is_ok, memory_bytes = excluded.memory_bytes, free_bytes = excluded.free_bytes,
      groups = case when k.groups = excluded.groups then k.groups else excluded.groups end, status = excluded.status, state = 'ready', last_seen_at = now()
    where k.state <> 'gone'
    returning k.boot_id, k.address, k.xmax = 0 as is_new`;
  const { rows: recorded } = await db.executeQuery(preparedAs('record_reports', query.compile(db)));
  const known = new Set(recorded.map((row) => row.boot_id));
  const started = recorded.filter((row) => row.is_new);
  if (started.length > 0) await loseFormer(db, started);
  return new Set(reports.map(({ bootId }) => bootId).filter((id) => !known.has(id)));
}

/** Whoever had the address of a runner that was started there is not reached any more; whether it lives is unknown. */
async function loseFormer(db: Db, started: { boot_id: string; address: string }[]): Promise<void> {
  await db
    .updateTable('runners')
    .set({ state: 'lost' })
    .where(
      'address',
      'in',
      started.map((row) => row.address),
    )
    .where(
      'boot_id',
      'not in',
      started.map((row) => row.boot_id),
    )
    .where('state', 'in', ['ready', 'suspect'])
    .execute();
}

/** Records that a runner has left, with all that it had. */
export async function recordLeaving(db: Db, bootId: string): Promise<void> {
  await db.updateTable('runners').set({ state: 'gone' }).where('boot_id', '=', bootId).execute();
}

/**
 * Moves runners on that were silent for too long, by the clock of the server that this process has watched; returns
 * those that changed. A report that comes at the same time wins.
 */
export async function judgeSilent(
  db: Db,
  server: string,
): Promise<Pick<RunnerRow, 'boot_id' | 'name' | 'state'>[]> {
  const { rows } = await sql<Pick<RunnerRow, 'boot_id' | 'name' | 'state'>>`
    update runners k set state = j.state from (
      select boot_id, case when last_seen_at < ${ago(GONE_MS)} then 'gone' when last_seen_at < ${ago(LOST_MS)} then 'lost' else 'suspect' end as state
      from runners where state <> 'gone' and last_seen_at < ${ago(SUSPECT_MS)} order by boot_id
    ) j where k.boot_id = j.boot_id and k.state not in ('gone', j.state) and k.last_seen_at < ${ago(SUSPECT_MS)} and server_identity() = ${server}
    returning k.boot_id, k.name, k.state`.execute(db);
  return rows;
}

/** Forgets runners that are gone for a day: an id that is unknown counts as gone. */
export async function deleteGone(db: Db): Promise<void> {
  await db
    .deleteFrom('runners')
    .where('state', '=', 'gone')
    .where('last_seen_at', '<', sql<Date>`now() - interval '1 day'`)
    .execute();
}

const KNOWN = ['boot_id', 'name', 'address', 'state', 'status', 'is_draining', 'is_ok'] as const;

export async function findRunners(db: Db, bootIds: readonly string[]): Promise<KnownRunner[]> {
  return db
    .selectFrom('runners')
    .select(KNOWN)
    .where(sql<boolean>`boot_id = any(${[...bootIds]}::text[])`)
    .execute();
}

/** Whether a runner of the pool takes new work, were there room. */
export async function hasUsableRunner(db: Db | Tx['db'], pool: string): Promise<boolean> {
  const found = await db
    .selectFrom('runners')
    .select('boot_id')
    .where('pool', '=', pool)
    .where(isUsable)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Whether a runner takes new work, were there room. */
export async function isUsableRunner(db: Db, bootId: string): Promise<boolean> {
  const found = await db
    .selectFrom('runners')
    .select('boot_id')
    .where('boot_id', '=', bootId)
    .where(isUsable)
    .executeTakeFirst();
  return found !== undefined;
}

/** The runners that count, those with silent or missing sandboxes among them, by name. */
export async function listRunners(
  db: Db,
): Promise<(KnownRunner & Pick<RunnerRow, 'capacity' | 'reserved'>)[]> {
  return db
    .selectFrom('runners')
    .select([...KNOWN, 'capacity', 'reserved'])
    .where('state', '<>', 'gone')
    .orderBy('name')
    .orderBy('boot_id')
    .execute();
}

/** What work that looks for a place is. */
interface Wanted {
  holder: string;
  pool: string;
  projectId: string;
}

/**
 * Some runners of a pool with room, drawn at random: those that keep the project and are not crowded come first, and
 * before them the one where the work has its place already.
 */
export async function drawCandidates(
  db: Db,
  { holder, pool, projectId }: Wanted,
): Promise<(Candidate & { holds: boolean })[]> {
  const query = sql<Candidate & { holds: boolean }>`
    select boot_id, capacity, reserved, coalesce(1 - free_bytes::float8 / nullif(memory_bytes, 0), 0) as used, keeps, holds from (
      select *, boot_id in (select boot_id from runners where groups @> array[${projectId}]::text[]) as keeps,
        boot_id in (select boot_id from runner_places where holder = ${holder}) as holds
      from runners where pool = ${pool} and ${isUsable}
    ) k where holds or reserved < capacity
    order by holds desc, (keeps and reserved < capacity * ${WARM_LOAD}::float8) desc, random() limit ${DRAWN}`;
  return (await db.executeQuery(preparedAs('draw_candidates', query.compile(db)))).rows;
}

/**
 * Takes a place for work, unless it has that one; false where the runner has no room, or takes no new work. What it
 * had elsewhere is counted again later.
 */
export async function takePlaceAt(db: Db, holder: string, bootId: string): Promise<boolean> {
  const query = sql<{ is_there: boolean }>`
    with had as (
      select boot_id from runner_places join runners using (boot_id) where holder = ${holder} and boot_id = ${bootId} and ${isUsable}
    ), taken as (
      update runners set reserved = reserved + 1 where boot_id = ${bootId} and reserved < capacity and ${isUsable} and not exists (select from had) returning boot_id
    ), placed as (
      insert into runner_places (holder, boot_id) select ${holder}, boot_id from taken
      on conflict (holder) do update set boot_id = excluded.boot_id, taken_at = now() returning boot_id
    )
    select exists (select from had) or exists (select from placed) as is_there`;
  return (await db.executeQuery(preparedAs('take_place', query.compile(db)))).rows[0]!.is_there;
}

/** Records the place of work that is at a runner already, whether or not there is room. */
export async function keepPlaceAt(db: Db, holder: string, bootId: string): Promise<void> {
  await sql`
    with kept as (
      insert into runner_places as p (holder, boot_id) values (${holder}, ${bootId})
      on conflict (holder) do update set boot_id = excluded.boot_id, taken_at = now() where p.boot_id <> excluded.boot_id returning boot_id
    )
    update runners set reserved = reserved + 1 from kept where runners.boot_id = kept.boot_id`.execute(db);
}

/** Gives the place of work back, and makes the first job due that waits for one. */
export async function freePlace(tx: Tx, holder: string): Promise<void> {
  const { rows } = await sql`
    with freed as (delete from runner_places where holder = ${holder} returning boot_id)
    update runners set reserved = greatest(0, reserved - 1) from freed where runners.boot_id = freed.boot_id returning 1`.execute(
    tx.db,
  );
  if (rows.length > 0) await wakeFirstWaiting(tx, ROOM, 1);
}

/**
 * Frees the places of work without a job, which its worker could not give back, and counts all again. The rows are
 * locked first: a place that is taken meanwhile is counted, or added afterwards.
 */
export async function recountPlaces(tx: Tx): Promise<void> {
  await sql`
    delete from runner_places p where taken_at < now() - interval '10 seconds' and not exists (select from jobs j where j.key = p.holder)`.execute(
    tx.db,
  );
  const { rows } = await sql<{ boot_id: string }>`
    select boot_id from runners k where reserved <> (select count(*) from runner_places p where p.boot_id = k.boot_id)
    order by boot_id for update`.execute(tx.db);
  if (rows.length === 0) return;
  await sql`
    update runners k set reserved = (select count(*) from runner_places p where p.boot_id = k.boot_id)
    where boot_id = any(${rows.map((row) => row.boot_id)}::text[])`.execute(tx.db);
}

/** The runners that take nothing new, and still have something. */
export async function findDraining(db: Db): Promise<string[]> {
  const draining = await db
    .selectFrom('runners')
    .select('boot_id')
    .where('is_draining', '=', true)
    .where('state', 'in', ['ready', 'suspect'])
    .execute();
  return draining.map((row) => row.boot_id);
}

/** How many places are free at runners of the pool that take new work. */
export async function countRoom(db: Db, pool: string): Promise<number> {
  const { rows } = await sql<{
    room: number;
  }>`select coalesce(sum(greatest(0, capacity - reserved)), 0)::integer as room from runners where pool = ${pool} and ${isUsable}`.execute(
    db,
  );
  return rows[0]!.room;
}
