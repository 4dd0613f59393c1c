-- A queued build that a bound of its project, its organization or the operator holds back, as runs have it.
alter table builds add column held boolean not null default false;
-- A thread's response shows it. A function plans nothing for the many threads without a build.
create function is_build_held(of_build text) returns boolean language plpgsql stable as $$
begin
  return (select status = 'queued' and held from builds where id = of_build);
end $$;
-- Whether an organization has anything that waits for a place, at the end of each run and build.
create index runs_held_of_org on runs (org_id) where status = 'queued' and held;
create index builds_held_of_org on builds (org_id) where status = 'queued' and held;
-- What an organization has open, to be counted where the operator bounds it.
create index execs_open on execs (org_id) where status in ('queued', 'running');
create index previews_open_of_org on previews (org_id) where status in ('starting', 'ready');

-- What idle and used workspaces take, where the operator bounds that for each organization.
create table workspace_sizes (
  thread_id text primary key references threads on delete cascade,
  -- The runner of its host, which reported it.
  runner_id text not null,
  bytes bigint not null,
  used_at timestamptz(3) not null
);
