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
