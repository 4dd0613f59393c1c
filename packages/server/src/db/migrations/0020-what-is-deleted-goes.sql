-- What is deleted goes: when the contents of a deleted row, and all that belongs to it, were removed.
alter table threads add column purged_at timestamptz(3);
alter table projects
  -- When the last of its sources and builds was removed, before the rest.
  add column emptied_at timestamptz(3),
  add column purged_at timestamptz(3);
alter table organizations add column purged_at timestamptz(3);
create index threads_purge on threads (deleted_at) where deleted_at is not null and purged_at is null;
create index projects_purge on projects (deleted_at) where deleted_at is not null and purged_at is null;
create index organizations_purge on organizations (deleted_at) where deleted_at is not null and purged_at is null;
create index applies_thread on applies (thread_id);
create index execs_thread on execs (thread_id);
-- Deleting a tool call looks for the approvals that name it.
create index approvals_tool on approvals (tool_id);
-- Capabilities that the operator has taken from the organization.
alter table organizations add column without text[] not null default '{}';
