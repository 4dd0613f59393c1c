/**
 * What has not moved for some time though it should. Candidates are the oldest open rows of each kind, found
 * by the indexes of open rows and never by reading what has ended; each is judged by the jobs of its key:
 *
 *   a living worker has one of them      it works
 *   its own is put off, and never failed it waits for a place
 *   its own is due, and living workers   it waits for what works
 *   work on others of its kind
 *   else                                 stuck
 *
 * What waits for an answer, for an earlier run of its thread, for an earlier apply of its project or for a
 * place is no candidate.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { databaseNow } from '../clock.ts';
import type { Context } from '../context.ts';

/** A worker that was silent for longer is not counted on. */
const ALIVE_SECONDS = 30;
/** Candidates of one kind that a read looks at. */
const MOST = 5_000;
/** Attempts to delete a stored object before the first is worth an operator's look. */
const ATTEMPTS = 2;

export type StuckKind = 'run' | 'apply' | 'build' | 'initialization' | 'operation' | 'cleanup';

export interface Found {
  kind: StuckKind;
  id: string;
  org_id: string | null;
  project_id: string | null;
  thread_id: string | null;
  since: Date;
  /** Why it counts as stuck, where its own row says so. */
  cause: 'cancel' | 'lease' | 'unknown' | 'storage' | 'rows' | 'workspace' | null;
  has_job: boolean;
  is_claimed: boolean;
  failures: number;
  has_workers: boolean;
}

interface Asked {
  seconds: number;
  /** The sort key of the last row of the page before. */
  after: string | null;
  limit: number;
}

const noCause = sql`null::text`;

/** The thread's first run, or the one that is under way. */
const runs = sql`
  (select 'run' as kind, r.id, r.org_id, r.project_id, r.thread_id, 'thread:' || r.thread_id as key, 'run.work' as job, ${noCause} as cause,
    greatest(r.created_at, (select p.finished_at from runs p where p.thread_id = r.thread_id and p.id < r.id order by p.id desc limit 1)) as since
  from runs r where r.status = 'queued' and not r.held
    and not exists (select from runs e where e.thread_id = r.thread_id and e.status in ('running', 'waiting'))
    and not exists (select from runs e where e.thread_id = r.thread_id and e.status = 'queued' and e.position < r.position)
  order by r.id limit ${MOST})
  union all
  (select 'run', r.id, r.org_id, r.project_id, r.thread_id, 'thread:' || r.thread_id, 'run.work', case when r.cancel_requested_at is not null then 'cancel' end,
    coalesce(r.cancel_requested_at, r.started_at, r.created_at)
  from runs r where r.status in ('running', 'waiting') order by r.id limit ${MOST})`;

/** A project merges one apply at a time; one under repair waits for its run. */
const applies = sql`
  (select 'apply', a.id, a.org_id, a.project_id, a.thread_id, 'apply:' || a.project_id, 'apply.merge', ${noCause},
    greatest(a.created_at, (select p.finished_at from applies p where p.project_id = a.project_id and p.sequence < a.sequence order by p.sequence desc limit 1),
      (select max(r.finished_at) from runs r where r.apply_id = a.id))
  from applies a where a.status = 'queued'
    and not exists (select from runs r where r.apply_id = a.id and r.status in ('queued', 'running', 'waiting'))
    and not exists (select from applies e where e.project_id = a.project_id and e.status = 'queued' and e.sequence < a.sequence
      and not exists (select from runs r where r.apply_id = e.id and r.status in ('queued', 'running', 'waiting')))
  limit ${MOST})`;

const builds = sql`
  (select 'build', b.id, b.org_id, b.project_id, b.thread_id, 'build:' || b.id, 'build.work', case when b.cancel_requested_at is not null then 'cancel' end,
    coalesce(b.cancel_requested_at, b.started_at, b.created_at)
  from builds b where b.status in ('queued', 'building') and not (b.status = 'queued' and b.held) limit ${MOST})`;

const initializations = sql`
  (select 'initialization', t.id, t.org_id, t.project_id, t.id, j.key, j.kind, ${noCause}, coalesce(t.initialization_updated_at, t.created_at)
  from jobs j join threads t on t.id = j.payload->>'threadId'
  where j.status in ('queued', 'active') and j.kind = 'thread.initialize' and t.initialization_state in ('accepted', 'preparing') limit ${MOST})`;

/** Commands by their jobs; other receipts by their leases; uncertain ones, whose effect nobody knows. */
const operations = sql`
  (select 'operation', e.operation_id, e.org_id, e.project_id, e.thread_id, j.key, j.kind, ${noCause}, e.created_at
  from jobs j join execs e on e.id = j.payload->>'execId'
  where j.status in ('queued', 'active') and j.kind = 'exec.work' and e.status in ('queued', 'running') limit ${MOST})
  union all
  (select 'operation', o.id, o.org_id, o.project_id, null, null, null, 'lease', o.lease_until
  from operations o where o.status = 'pending' and o.lease_until is not null order by o.lease_until limit ${MOST})
  union all
  (select 'operation', o.id, o.org_id, o.project_id, null, null, null, 'unknown', o.uncertain_at
  from operations o where o.status = 'uncertain' order by o.lease_until limit ${MOST})`;

/** Stored objects by their projects or organizations, rows by their projects, and workspaces that could not be put away. */
const cleanups = (graceSeconds: number) => sql`
  (select 'cleanup', coalesce(f.project_id, f.org_id), f.org_id, f.project_id, null, null, null, 'storage', min(f.since)
  from (
    -- From the delays of its attempts back to when it was due first.
    select project_id, org_id, delete_after - (5 * (2 ^ least(attempts, 10) - 1) + 3600 * greatest(attempts - 10, 0)) * interval '1 second' as since
    from objects where attempts >= ${ATTEMPTS} limit ${MOST}
  ) f group by f.org_id, f.project_id)
  union all
  (select 'cleanup', p.id, p.org_id, p.id, null, null, null, 'rows', p.deleted_at + ${graceSeconds} * interval '1 second'
  from projects p where p.deleted_at is not null and p.purged_at is null and p.emptied_at is null
    and not exists (select from objects o where o.project_id = p.id and o.attempts >= ${ATTEMPTS})
  order by p.deleted_at limit ${MOST})
  union all
  (select 'cleanup', t.id, t.org_id, t.project_id, t.id, null, null, 'workspace', coalesce(t.idle_expires_at, t.archived_at, t.updated_at)
  from threads t where t.workspace_status in ('ready', 'cleanup_pending') and t.deleted_at is null and t.workspace_failures > 1 limit ${MOST})`;

/** How the rows are ordered and continued: by time, then kind and id. */
const sortKey = sql<string>`to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS') || ' ' || kind || ' ' || id collate "C"`;

/** Oldest first, behind `after`. */
export async function findStuck(ctx: Context, asked: Asked): Promise<(Found & { sort_key: string })[]> {
  const { rows } = await sql<Found & { sort_key: string }>`${stuckQuery(ctx, asked)}`.execute(ctx.db);
  return rows;
}

export function stuckQuery(
  ctx: Pick<Context, 'clock' | 'config'>,
  { seconds, after, limit }: Asked,
): RawBuilder<unknown> {
  return sql`
    with live as materialized (
      select id from workers where heartbeat_at > now() - ${ALIVE_SECONDS} * interval '1 second'
    ), busy as materialized (
      select distinct kind from jobs where status = 'active' and not waiting and worker_id in (select id from live)
    ), candidates (kind, id, org_id, project_id, thread_id, key, job, cause, since) as (
      ${runs} union all ${applies} union all ${builds} union all ${initializations} union all ${operations} union all ${cleanups(ctx.config.cleanupGraceSeconds)}
    ), judged as (
      select c.kind, c.id, c.org_id, c.project_id, c.thread_id, c.cause, greatest(c.since, j.last_beat) as since,
        coalesce(j.has_job, false) as has_job, coalesce(j.is_claimed, false) as is_claimed, coalesce(j.failures, 0) as failures,
        exists (select from live) as has_workers, coalesce(j.is_moving or j.is_put_off or (j.is_due and j.failures = 0 and c.job in (select kind from busy)), false) as moves
      from candidates c left join lateral (
        select bool_or(j.kind = c.job) as has_job, max(j.failures) filter (where j.kind = c.job) as failures,
          bool_or(j.status = 'active') as is_claimed, bool_or(j.status = 'active' and j.worker_id in (select id from live)) as is_moving,
          bool_or(j.kind = c.job and j.status = 'queued' and j.failures = 0 and j.run_at > now()) as is_put_off,
          bool_or(j.kind = c.job and j.status = 'queued' and j.run_at <= now()) as is_due,
          max(w.heartbeat_at) filter (where j.status = 'active') as last_beat
        from jobs j left join workers w on w.id = j.worker_id where j.key = c.key
      ) j on true
      where c.since <= ${databaseNow(ctx)} - ${seconds} * interval '1 second'
    )
    select *, ${sortKey} as sort_key from judged
    where (not moves or cause = 'cancel') and since <= ${databaseNow(ctx)} - ${seconds} * interval '1 second'
      ${after === null ? sql`` : sql`and ${sortKey} > ${after}`}
    order by sort_key limit ${limit}`;
}
