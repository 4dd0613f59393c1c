-- A thread's runs in the order in which they were queued. Each is queued under its thread's lock, so the order is exact whatever the
-- clocks of the processes say; ids only come close to it.
alter table runs add column position bigint;
update runs set position = ordered.n from (select id, row_number() over (order by id) as n from runs) as ordered where ordered.id = runs.id;
alter table runs alter column position set not null;
alter table runs alter column position add generated always as identity;
select setval(pg_get_serial_sequence('runs', 'position'), (select coalesce(max(position), 0) + 1 from runs), false);
drop index runs_queued;
create index runs_queued on runs (thread_id, position) include (held, id) where status = 'queued';

create or replace function thread_work(of_thread text, thread_status text) returns json language plpgsql stable as $$
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
        into run from runs where thread_id = of_thread and status = 'queued' order by position limit 1;
    end if;
    select coalesce(json_agg(id order by id), '[]') into pending from approvals where thread_id = of_thread and status = 'pending';
  end if;
  if run is null then
    select json_build_object('id', id, 'status', status, 'steerable', steerable, 'started_at', started_at, 'active_since', active_since, 'active_duration_ms', active_duration_ms)
      into run from runs where thread_id = of_thread and status in ('completed', 'failed', 'cancelled') order by finished_at desc, id desc limit 1;
  end if;
  return json_build_object('run', run, 'queuedRuns', queued, 'isHeld', is_held, 'pendingApprovals', pending);
end $$;
