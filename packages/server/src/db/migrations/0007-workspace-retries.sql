-- Putting a workspace away is tried again at a growing distance; between the tries its thread is free for work.
alter table threads
  add column workspace_failures integer not null default 0,
  add column workspace_retry_at timestamptz(3);
-- Those that may have to be put away: looked through each second.
create index threads_workspace on threads (idle_expires_at) where workspace_status in ('ready', 'cleanup_pending') and deleted_at is null;
drop index threads_idle;
