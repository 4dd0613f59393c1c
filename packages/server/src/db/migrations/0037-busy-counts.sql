-- How many jobs are under way, by kind, organization and project: a claim reads a few rows instead of counting all active
-- jobs. Each begin and end adds a row, so nobody waits for another's; one worker sums them up (jobs/busy-counts.ts).
create table busy_counts (
  kind text not null,
  fair_org text not null,
  -- Null: all projects of the organization together.
  fair_key text,
  change integer not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_threshold = -1);
create index busy_counts_turn on busy_counts (kind, fair_org, fair_key) include (change);

create function count_busy_job() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' and old.status = 'active' and not old.waiting then
    insert into busy_counts values (old.kind, old.fair_org, null, -1), (old.kind, old.fair_org, old.fair_key, -1);
  end if;
  if tg_op <> 'DELETE' and new.status = 'active' and not new.waiting then
    insert into busy_counts values (new.kind, new.fair_org, null, 1), (new.kind, new.fair_org, new.fair_key, 1);
  end if;
  return null;
end $$;
create trigger jobs_insert_busy after insert on jobs for each row
  when (new.status = 'active' and not new.waiting) execute function count_busy_job();
create trigger jobs_update_busy after update on jobs for each row
  when ((old.status = 'active' and not old.waiting) <> (new.status = 'active' and not new.waiting)) execute function count_busy_job();
create trigger jobs_delete_busy after delete on jobs for each row
  when (old.status = 'active' and not old.waiting) execute function count_busy_job();

-- For the time of the job that is due first: a look that finds none does no walk. An index on the column itself would look to the
-- planner as if a claim could use it, which then takes six times as long.
create index jobs_first_due on jobs ((run_at at time zone 'UTC')) where status = 'queued';

insert into busy_counts
select kind, fair_org, fair_key, count(*) from jobs where status = 'active' and not waiting
group by grouping sets ((kind, fair_org), (kind, fair_org, fair_key));
