/** The only writer of `workspace_records` and `workspace_sizes`, and the queries that sweep workspaces. */
import type { WorkspaceSize } from '@headrace/runner/protocol';
import { sql } from 'kysely';
import type { Insertable, RawBuilder } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ThreadRow, WorkspaceRecordsTable } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

export async function insertRecord(tx: Tx, record: Insertable<WorkspaceRecordsTable>): Promise<void> {
  await tx.db.insertInto('workspace_records').values(record).execute();
}

/** The thread has no job: nobody uses its workspace. */
const isUnused = sql`not exists (select 1 from jobs j where j.key = 'thread:' || t.id)`;

/** A thread, and whose turns its jobs take. */
type ThreadOfOrg = Pick<ThreadRow, 'id' | 'org_id' | 'project_id'>;

/** Nothing works in the thread, and nothing is queued. */
const hasNoWork = sql`t.active_exec_id is null and t.active_apply_id is null and t.active_build_id is null
      and not exists (select 1 from runs r where r.thread_id = t.id and r.status in ('queued', 'running', 'waiting'))
      and ${isUnused}`;

/**
 * Threads whose workspace is to be archived: it is beyond its deadline, its thread is archived, or the end
 * of its runtime is not confirmed. After a failed attempt a thread counts again at its `workspace_retry_at`.
 */
export async function dueThreads(db: Db, now: RawBuilder<Date>, limit: number): Promise<ThreadOfOrg[]> {
  const { rows } = await sql<ThreadOfOrg>`
    select t.id, t.org_id, t.project_id from threads t
    where t.workspace_status in ('ready', 'cleanup_pending') and t.deleted_at is null
      and (t.workspace_status = 'cleanup_pending' or t.archived_at is not null or t.idle_expires_at <= ${now})
      and (t.workspace_retry_at is null or t.workspace_retry_at <= ${now})
      and ${hasNoWork}
    order by t.idle_expires_at limit ${limit}`.execute(db);
  return rows;
}

/**
 * Threads whose workspace was at a runner of this host that is none of the live ones; the first is current. Before they
 * had names of their own all hosts' runners were called `local`: such a one was this host's, unless another host has
 * a process that still reports one.
 */
export async function vanishedThreads(
  db: Db,
  { live, host }: { live: readonly string[]; host: string },
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from threads t
    where t.workspace_status = 'ready' and t.deleted_at is null and t.runner_id <> all(${live}::text[])
      and (split_part(t.runner_id, ':', 1) = split_part(${live[0]!}, ':', 1) or (t.runner_id like 'local:%' and not exists (
        select from processes p where p.runner->>'id' = 'local' and p.host <> ${host} and p.last_seen_at > now() - interval '30 seconds')))
      and ${isUnused}
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Threads whose workspace is at a runner that the fleet has lost. */
export async function threadsAtLost(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from runners k join threads t on t.runner_id = k.boot_id
    where k.state in ('lost', 'gone') and t.workspace_status = 'ready' and t.deleted_at is null and ${isUnused}
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Threads whose workspace is at a runner that no row of the fleet is about. */
export async function threadsAtUnknown(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from threads t
    where t.workspace_status = 'ready' and t.deleted_at is null and t.execution_target is null
      and not exists (select from runners k where k.boot_id = t.runner_id) and ${isUnused}
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Whether a living process of another host reports the runner that a row names. */
export async function isOfOtherHost(db: Db, runnerId: string, own: string): Promise<boolean> {
  const { rows } = await sql`
    select from processes where runner->>'id' = split_part(${runnerId}, ':', 1) and split_part(${runnerId}, ':', 1) <> split_part(${own}, ':', 1)
      and last_seen_at > now() - interval '30 seconds' limit 1`.execute(db);
  return rows.length > 0;
}

/** Whether any thread has its workspace at this runner. */
export async function hasWorkspaces(db: Db, runnerId: string): Promise<boolean> {
  const { rows } = await sql<{ some: boolean }>`
    select exists (select 1 from threads where runner_id = ${runnerId}
      and workspace_status in ('ready', 'cleanup_pending') and deleted_at is null) as some`.execute(db);
  return rows[0]!.some;
}

/** What a runner says that its workspaces take. */
export interface Measured {
  runnerId: string;
  sizes: readonly WorkspaceSize[];
}

/**
 * Records what runners' workspaces take now; those that they no longer have are forgotten. A runner says it of threads
 * alone whose workspace is there.
 */
export async function recordSizes(db: Db, measured: readonly Measured[]): Promise<void> {
  const sizes = measured.flatMap(({ runnerId, sizes: of }) => of.map((size) => ({ ...size, runnerId })));
  await sql`
    with reported as (
      select distinct on (t.id) t.id, r.runner_id, r.bytes, r.idle_ms
      from unnest(${sizes.map(({ id }) => id)}::text[], ${sizes.map(({ runnerId }) => runnerId)}::text[], ${sizes.map(({ bytes }) => bytes)}::bigint[], ${sizes.map(({ idleMs }) => idleMs)}::bigint[]) as r (id, runner_id, bytes, idle_ms)
      join threads t on t.id = r.id and split_part(t.runner_id, ':', 1) in (r.runner_id, 'local')
    ), gone as (
      delete from workspace_sizes where runner_id = any(${measured.map(({ runnerId }) => runnerId)}::text[]) and thread_id not in (select id from reported)
    )
    insert into workspace_sizes as s (thread_id, runner_id, bytes, used_at)
    select r.id, r.runner_id, r.bytes, now() - r.idle_ms * interval '1 millisecond' from reported r
    on conflict (thread_id) do update set runner_id = excluded.runner_id, bytes = excluded.bytes, used_at = excluded.used_at
    where s.bytes <> excluded.bytes or s.runner_id <> excluded.runner_id or excluded.used_at > s.used_at + interval '1 second'`.execute(
    db,
  );
}

/** Forgets what workspaces took at runners of the fleet that are gone. */
export async function forgetSizes(db: Db): Promise<void> {
  await sql`
    delete from workspace_sizes s where not exists (select from runners k where k.boot_id = s.runner_id and k.state <> 'gone')`.execute(
    db,
  );
}

/**
 * Idle workspaces beyond what each organization may have: those used least recently, until the rest fits.
 * What is in use counts, and stays.
 */
export async function surplusWorkspaces(db: Db, bound: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with crowded as (
      select t.org_id from workspace_sizes s join threads t on t.id = s.thread_id
      where t.workspace_status = 'ready' and t.deleted_at is null group by t.org_id having sum(s.bytes) > ${bound}
    ), ready as (
      select t.id, t.org_id, s.bytes, s.used_at, ${hasNoWork} as is_idle from workspace_sizes s join threads t on t.id = s.thread_id
      where t.org_id in (select org_id from crowded) and t.workspace_status = 'ready' and t.deleted_at is null
    ), counted as (
      select id, used_at, is_idle, sum(bytes) over (partition by org_id order by is_idle, used_at desc, id desc) as bytes from ready
    )
    select id from counted where is_idle and bytes > ${bound} order by used_at limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
