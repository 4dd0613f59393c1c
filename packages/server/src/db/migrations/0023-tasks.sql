-- Tasks: what a project's threads work on, often an issue in a tracker.
create table tasks (
  org_id text not null references organizations,
  id text primary key,
  project_id text not null references projects,
  identifier text not null,
  title text not null,
  -- The title is the identifier until the issue's replaces it. A person's title stays.
  title_awaits_issue boolean not null default false,
  -- The status that a person has set; null: derived from the threads, see task_status.
  set_status text check (set_status in ('open', 'in_progress', 'in_review', 'done', 'cancelled')),
  -- The address as it was first given.
  tracker_issue_url text,
  -- A digest of the normalized address: an address may be too long for an index.
  issue_key text,
  -- The last index that was given to a thread of the task.
  last_thread_index integer not null default 0,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index tasks_issue on tasks (project_id, issue_key) where issue_key is not null;
create index tasks_project on tasks (project_id, id);
create index tasks_org on tasks (org_id, id);

-- The number of the last identifier T-<n>.
alter table projects add column task_number bigint not null default 0;

alter table threads
  add column task_id text references tasks,
  add column thread_index integer;
create index threads_task on threads (task_id, id) where task_id is not null;

-- A task's current status, from its threads that are not deleted. As a function it is planned once per connection, and
-- tasks and threads share it.
create function task_status(of_task text, set_status text) returns text language plpgsql stable as $$
begin
  if set_status is not null then
    return set_status;
  end if;
  return (
    select case
      when bool_or(p.state = 'merged') then 'done'
      when bool_or(p.state = 'open') then 'in_review'
      when bool_or(t.archived_at is null) then 'in_progress'
      else 'open'
    end
    from threads t left join pull_requests p on p.thread_id = t.id
    where t.task_id = of_task and t.deleted_at is null);
end $$;
