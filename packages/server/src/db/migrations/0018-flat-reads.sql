-- A read costs the same however many runs and approvals its thread had.
-- The run that was under way last, behind the open ones, which runs_active and runs_queued find.
create index runs_ended on runs (thread_id, finished_at desc, id desc) where status in ('completed', 'failed', 'cancelled');
create index runs_queued on runs (thread_id, id) include (held) where status = 'queued';
create index approvals_open on approvals (thread_id, id) where status = 'pending';

-- What a thread's response shows of its runs and its open questions: of the active run, else the oldest queued, else the last ended. As
-- joins these look-ups cost PostgreSQL 64 µs a thread more than its row alone, mostly to set up their plan; here 25 (a stable function
-- reads with the snapshot of its statement). A thread that is ready has neither open runs nor open questions.
create function thread_work(of_thread text, thread_status text) returns json language plpgsql stable as $$
declare
  run json;
  queued integer := 0;
  is_held boolean := false;
  pending json := '[]';
begin
  if thread_status <> 'ready' then
    select json_build_object('id', id, 'status', status, 'steerable', steerable, 'started_at', started_at, 'active_since', active_since, 'active_duration_ms', active_duration_ms)
      into run from runs where thread_id = of_thread and status in ('running', 'waiting');
    select count(*), coalesce(bool_or(held), false) into queued, is_held from runs where thread_id = of_thread and status = 'queued';
    if run is null and queued > 0 then
      select json_build_object('id', id, 'status', status, 'steerable', steerable, 'started_at', started_at, 'active_since', active_since, 'active_duration_ms', active_duration_ms)
        into run from runs where thread_id = of_thread and status = 'queued' order by id limit 1;
    end if;
    select coalesce(json_agg(id order by id), '[]') into pending from approvals where thread_id = of_thread and status = 'pending';
  end if;
  if run is null then
    select json_build_object('id', id, 'status', status, 'steerable', steerable, 'started_at', started_at, 'active_since', active_since, 'active_duration_ms', active_duration_ms)
      into run from runs where thread_id = of_thread and status in ('completed', 'failed', 'cancelled') order by finished_at desc, id desc limit 1;
  end if;
  return json_build_object('run', run, 'queuedRuns', queued, 'isHeld', is_held, 'pendingApprovals', pending);
end $$;

-- A page of types that are rare is found without what lies between them. Both cost the publisher what docs/benchmarks/costs.md says.
create index events_project_type on events (project_id, type, sequence);
create index events_org_type on events (org_id, feed, type, sequence);

-- A page of usage by thread reads the runs of its threads alone.
create index runs_usage_thread on runs (org_id, thread_id collate "C", created_at);

-- Sums of the runs that began in an hour, once none of them can change: reads of a month sum 720 hours, not a million runs. An hour with
-- runs has rows with project_id '' (all projects), which say that it is closed, and rows of each project.
create table usage_hours (
  org_id text not null references organizations,
  hour timestamptz(3) not null,
  project_id text collate "C" not null,
  model_id text not null,
  runs bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_tokens bigint not null,
  cost_micros bigint not null,
  primary key (org_id, project_id, hour, model_id)
);
insert into usage_hours
select r.org_id, date_trunc('hour', r.created_at, 'UTC') as hour, coalesce(r.project_id, ''), r.model_id, count(*), sum(r.input_tokens), sum(r.output_tokens), sum(r.cached_tokens), sum(r.cost_micros)
from runs r
where date_trunc('hour', r.created_at, 'UTC') < now() - interval '2 hours'
  and not exists (
    select from runs o where o.org_id = r.org_id and o.status in ('queued', 'running', 'waiting')
      and date_trunc('hour', o.created_at, 'UTC') = date_trunc('hour', r.created_at, 'UTC'))
  and not exists (
    select from model_calls c join runs o on o.id = c.run_id where c.status = 'open' and o.org_id = r.org_id
      and date_trunc('hour', o.created_at, 'UTC') = date_trunc('hour', r.created_at, 'UTC'))
group by grouping sets ((r.org_id, hour, r.project_id, r.model_id), (r.org_id, hour, r.model_id));
