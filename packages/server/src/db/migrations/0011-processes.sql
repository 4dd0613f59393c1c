-- Every process of the service, by its sign of life: who answers, who works, and what its runner reports.
create table processes (
  id text primary key,
  host text not null,
  roles text[] not null,
  started_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  -- When a worker's runner could make sandboxes last; null where it said that it cannot, and for other processes.
  sandbox_seen_at timestamptz(3),
  -- What the runner of a worker's or runner's host reported last; null while none answers.
  runner jsonb
);

-- Jobs are claimed in turns of organizations, and within one of its projects.
alter table jobs add column fair_org text not null default '';
update jobs j set fair_org = p.org_id from projects p where p.id = j.fair_key;
drop index jobs_fair;
-- For walking from one project of an organization to the next.
create index jobs_fair on jobs (status, kind, fair_org, fair_key, run_at, id);
-- For walking from one organization to the next, and for the oldest job of one.
create index jobs_due on jobs (kind, fair_org, run_at, id) where status = 'queued';
