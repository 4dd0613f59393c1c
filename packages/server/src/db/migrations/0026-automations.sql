-- Automations start work on a schedule, on an event of the log, or when another system calls a hook.
create table automations (
  org_id text not null references organizations,
  id text primary key,
  project_id text not null references projects,
  name text not null,
  prompt text not null,
  kind text not null check (kind in ('schedule', 'event', 'webhook')),
  -- As clients see it: without `secret`.
  trigger jsonb not null,
  filter jsonb not null default '[]',
  model_id text,
  base_branch text,
  pull_request text not null check (pull_request in ('none', 'draft', 'open')),
  overlap text not null check (overlap in ('skip', 'queue', 'allow')),
  catch_up boolean not null,
  spend_limit_micros bigint,
  monthly_limit_micros bigint,
  disable_after_failures integer,
  disabled_reason text check (disabled_reason in ('user', 'failures')),
  consecutive_failures integer not null default 0,
  -- For `schedule`, while it is enabled: the next time that starts an execution.
  next_run_at timestamptz(3),
  last_execution_at timestamptz(3),
  -- For `webhook`.
  secret_sealed bytea,
  former_secret_sealed bytea,
  former_secret_until timestamptz(3),
  -- Events up to this sequence do not count: they precede its creation, or the time when it was enabled again.
  after_sequence bigint not null,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  -- Threads refer to it: its row stays, without contents.
  purged_at timestamptz(3),
  check (next_run_at is null or (kind = 'schedule' and disabled_reason is null and deleted_at is null))
);
create index automations_org on automations (org_id, id) where deleted_at is null;
create index automations_project on automations (project_id, id) where deleted_at is null;
create index automations_due on automations (next_run_at) where next_run_at is not null;
create index automations_purge on automations (deleted_at) where deleted_at is not null and purged_at is null;
create index automations_events on automations (project_id)
  where kind = 'event' and deleted_at is null and disabled_reason is null;

create table executions (
  org_id text not null,
  id text primary key,
  automation_id text not null references automations,
  project_id text not null,
  kind text not null check (kind in ('schedule', 'event', 'webhook', 'manual')),
  scheduled_for timestamptz(3),
  event_id text,
  event_type text,
  delivery_id text,
  status text not null check (status in ('queued', 'running', 'completed', 'failed', 'cancelled', 'skipped')),
  skipped_reason text check (skipped_reason in ('overlap', 'queue_full', 'limit', 'rate', 'loop')),
  -- Executions with the same key overlap: the hook's issue, or else the automation; a digest, since URLs are long.
  overlap_key text not null,
  -- The number of executions in its chain, including itself.
  depth integer not null,
  -- The input of templates.
  payload jsonb,
  event jsonb,
  -- The result of the hook's mapping: `errorTrackerIssue`, `trackerIssueUrl`.
  mapped jsonb,
  thread_id text,
  run_id text,
  pull_request_id text,
  -- The pull request that is being opened, from the decision until its record exists.
  opening jsonb,
  error_code text,
  error_message text,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  check ((status = 'skipped') = (skipped_reason is not null)),
  check ((status in ('queued', 'running')) = (finished_at is null))
);
-- Each time and each event creates at most one, however often and in whichever process it is seen.
create unique index executions_time on executions (automation_id, scheduled_for) where scheduled_for is not null;
create unique index executions_event on executions (automation_id, event_id) where event_id is not null;
create index executions_list on executions (automation_id, id);
-- Without it, a list by a status that none of 130,000 executions has (90 days of 60 an hour) takes 670 ms.
create index executions_status on executions (automation_id, status, id);
create index executions_open on executions (automation_id, overlap_key, id) where status in ('queued', 'running');
create index executions_thread on executions (thread_id) where thread_id is not null;
create index executions_rate on executions (automation_id, created_at) where kind in ('event', 'webhook') and status <> 'skipped';
create index executions_age on executions (created_at);

-- Deliveries to hooks, for seven days: a second one with the same id gets the answer of the first one.
create table hook_deliveries (
  automation_id text not null references automations,
  delivery_id text not null,
  execution_id text,
  skipped text check (skipped in ('filtered', 'disabled', 'unmapped')),
  created_at timestamptz(3) not null default now(),
  primary key (automation_id, delivery_id)
);
create index hook_deliveries_age on hook_deliveries (created_at);

alter table threads add column automation_id text references automations;
create index threads_automation on threads (automation_id, id) where automation_id is not null;
