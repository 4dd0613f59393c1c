-- Jobs are claimed fairly: of those that share a kind, the ones of the project that has the fewest under way go first.
alter table jobs
  -- Whose turn it is: a project's id; '' for jobs that take no turns.
  add column fair_key text not null default '',
  -- An active job that waits for a person, and is not counted as under way.
  add column waiting boolean not null default false;
-- For the oldest job of each fair_key, and for walking from one fair_key to the next.
create index jobs_fair on jobs (status, kind, fair_key, run_at, id);
drop index jobs_ready;
