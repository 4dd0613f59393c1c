/**
 * What only the database knows. One process reads it, the one that publishes the log: with more processes the
 * database would pay more for the same figures. Each statement walks an index and has a bound, so that a long
 * queue does not make its own observation expensive.
 */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ServerMetrics } from './table.ts';

/** Kinds of jobs with their organizations; of each the first jobs, of which one may be due and free. */
const MOST_TURNS = 2_000;
const MOST_BLOCKED = 50;
const MOST_COUNTED = 10_000;
/** The names of pools are the operator's: more of them than these are one. */
const MOST_POOLS = 20;
/** What a run takes at most of a runner's memory, as config.ts counts runs. */
const SLOT_BYTES = 256 * 1024 * 1024;
const LIMIT = '2s';

const GAUGES = [
  'headrace_outbox_oldest_seconds',
  'headrace_job_oldest_seconds',
  'headrace_runs_held',
  'headrace_builds_fenced_oldest_seconds',
  'headrace_runners',
  'headrace_runner_slots',
] as const;

/** For a process that does not read them: a figure that nobody renews would stay the same for ever. */
export function clearDatabaseGauges(metrics: ServerMetrics): void {
  for (const name of GAUGES) metrics.set(name);
}

/** Reads all of them, or clears them and throws. */
export async function readDatabaseGauges(db: Db, metrics: ServerMetrics): Promise<void> {
  try {
    await db.transaction().execute(async (tx) => {
      await sql`set local statement_timeout = ${sql.lit(LIMIT)}`.execute(tx);
      await readQueues(tx, metrics);
      await readRunners(tx, metrics);
    });
  } catch (error) {
    clearDatabaseGauges(metrics);
    throw error;
  }
}

async function readQueues(db: Db, metrics: ServerMetrics): Promise<void> {
  const {
    rows: [one],
  } = await sql<{ outbox: number; held: number; fenced: number }>`select
    coalesce((select extract(epoch from clock_timestamp() - occurred_at) from outbox order by id limit 1), 0)::float8 as outbox,
    (select count(*) from (select from runs where status = 'queued' and held limit ${MOST_COUNTED}) r)::int as held,
    greatest(0, (
      select max(greatest(extract(epoch from now() - b.started_at) - b.timeout_seconds, extract(epoch from now() - r.last_seen_at)))
      from builds b left join runners r on r.boot_id = b.runner_id and r.state in ('lost', 'gone') where b.status = 'building'
    ))::float8 as fenced`.execute(db);
  metrics.set('headrace_outbox_oldest_seconds', alone(one!.outbox));
  metrics.set('headrace_runs_held', alone(one!.held));
  metrics.set('headrace_builds_fenced_oldest_seconds', alone(one!.fenced));
  const { rows } = await sql<{ kind: string; seconds: number }>`
    with recursive turns as (
      (select kind, fair_org, 1 as n from jobs where status = 'queued' order by kind, fair_org limit 1)
      union all
      select next.kind, next.fair_org, t.n + 1 from turns t cross join lateral (
        select kind, fair_org from jobs where status = 'queued' and (kind, fair_org) > (t.kind, t.fair_org)
        order by kind, fair_org limit 1
      ) next where t.n < ${MOST_TURNS}
    )
    select t.kind, max(extract(epoch from now() - due.run_at))::float8 as seconds from turns t cross join lateral (
      select j.run_at from (
        select run_at, id, key from jobs
        where status = 'queued' and kind = t.kind and fair_org = t.fair_org and run_at <= now() order by run_at, id limit ${MOST_BLOCKED}
      ) j
      where j.key is null or not exists (select from jobs o where o.key = j.key and o.id <> j.id and (o.status = 'active' or o.id < j.id))
      order by j.run_at limit 1
    ) due group by t.kind`.execute(db);
  metrics.set(
    'headrace_job_oldest_seconds',
    ...rows.map(({ kind, seconds }) => ({ labels: { kind }, value: seconds })),
  );
}

interface RunnerFound {
  pool: string;
  state: 'ready' | 'draining' | 'suspect' | 'lost';
  runners: number;
  used: number;
  free: number;
}

/** Those that register, and those that services have started: each host's by its latest report. */
async function readRunners(db: Db, metrics: ServerMetrics): Promise<void> {
  const { rows } = await sql<RunnerFound>`
    with latest as (
      select distinct on (host) host, runner, extract(epoch from now() - last_seen_at) as silent
      from processes where 'runner' = any(roles) order by host, last_seen_at desc
    ), known as (
      select case when silent > 30 then 'lost' when silent > 10 or (runner ->> 'ok') is distinct from 'true' then 'suspect' else 'ready' end as state,
        coalesce((runner ->> 'sandboxes')::int, 0) as used,
        least(64, greatest(8, coalesce((runner ->> 'memoryBytes')::bigint, 0) / ${SLOT_BYTES})) as capacity
      from latest
    ), every_one as (
      select 'default' as pool, state, used, capacity from known
      union all
      select case when dense_rank() over (order by pool) <= ${MOST_POOLS} then pool else 'other' end,
        case when state <> 'ready' then state when is_draining then 'draining' when is_ok then 'ready' else 'suspect' end, reserved, capacity
      from runners where state <> 'gone'
    )
    select pool, state, count(*)::int as runners, sum(used)::int as used, sum(greatest(0, capacity - used))::int as free
    from every_one group by pool, state`.execute(db);
  metrics.set(
    'headrace_runners',
    ...rows.map(({ pool, state, runners }) => ({ labels: { pool, state }, value: runners })),
  );
  metrics.set(
    'headrace_runner_slots',
    ...rows
      .filter(({ state }) => state === 'ready')
      .flatMap(({ pool, used, free }) => [
        { labels: { pool, state: 'used' as const }, value: used },
        { labels: { pool, state: 'free' as const }, value: free },
      ]),
  );
}

const alone = (value: number) => ({ labels: {}, value });
