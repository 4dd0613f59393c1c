-- The first schema. Every table leads with org_id, so that it can be distributed by organization.
-- Ids are TypeIDs (text, time-sortable): lists page by them. Times are timestamptz(3): the API shows milliseconds.

create table organizations (
  id text primary key,
  name text not null,
  platform_api boolean not null default true,
  settings jsonb not null default '{}',
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);

create table users (
  id text primary key,
  email text not null,
  name text not null,
  password_hash text not null,
  created_at timestamptz(3) not null default now()
);
create unique index users_email on users (lower(email));

create table members (
  org_id text not null references organizations,
  user_id text not null references users,
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, user_id)
);
create index members_user on members (user_id);

create table invitations (
  id text primary key,
  org_id text not null references organizations,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'member')),
  token_hash bytea not null unique,
  invited_by text not null,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);

create table sessions (
  token_hash bytea primary key,
  user_id text not null references users,
  active_org_id text references organizations,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now()
);
create index sessions_user on sessions (user_id);

create table service_accounts (
  org_id text not null references organizations,
  id text primary key,
  name text not null,
  permissions jsonb not null,
  project_ids text[],
  disabled boolean not null default false,
  -- The owner or admin who last saved the account; null for the bootstrap account. Its keys answer 403 when that person loses the role.
  saved_by text references users,
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index service_accounts_org on service_accounts (org_id, id);

create table credentials (
  org_id text not null references organizations,
  id text primary key,
  account_id text not null references service_accounts,
  secret_hash bytea not null,
  expires_at timestamptz(3) not null,
  revoked boolean not null default false,
  created_at timestamptz(3) not null default now()
);
create index credentials_account on credentials (account_id, id);

create table audit_entries (
  org_id text not null references organizations,
  id text primary key,
  action text not null,
  actor_id text,
  target_id text,
  address text,
  created_at timestamptz(3) not null default now()
);
create index audit_entries_org on audit_entries (org_id, id);

create table model_keys (
  org_id text not null references organizations,
  provider text not null,
  -- AES-256-GCM under a key derived from HEADRACE_SECRET_KEY.
  key_sealed bytea not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, provider)
);

-- Receipts of idempotent writes.
create table operations (
  org_id text not null references organizations,
  id text primary key,
  -- The service account or user: a rotated credential retries safely.
  actor_id text not null,
  idempotency_key text not null,
  fingerprint bytea not null,
  method text not null,
  path text not null,
  project_id text,
  -- Permissions that reading the receipt takes; empty = an owner's or admin's session.
  permissions text[] not null,
  -- Whether operation.updated is published for it (Direct API, no Platform app).
  published boolean not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'uncertain')),
  -- Rises with every takeover of a pending claim; a writer with an older fence is refused.
  fence integer not null default 1,
  lease_until timestamptz(3),
  response_status integer,
  -- The answer as it is replayed, secrets removed.
  response text,
  created_at timestamptz(3) not null default now(),
  settled_at timestamptz(3),
  reserved_until timestamptz(3)
);
create unique index operations_key on operations (org_id, actor_id, idempotency_key);
create index operations_pending on operations (lease_until) where status = 'pending';
create index operations_reserved on operations (reserved_until) where reserved_until is not null;

create table projects (
  org_id text not null references organizations,
  id text primary key,
  kind text not null check (kind in ('platform', 'direct')),
  name text not null,
  external_id text,
  metadata jsonb not null default '{}',
  repository_id text,
  repo_full_name text,
  default_branch text,
  head_source_id text,
  head_revision bigint,
  head_updated_at timestamptz(3),
  -- The last apply's position in the queue.
  apply_sequence bigint not null default 0,
  settings jsonb not null default '{}',
  version bigint not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3)
);
create index projects_org on projects (org_id, id) where deleted_at is null;
create unique index projects_external_id on projects (org_id, external_id) where deleted_at is null and external_id is not null;

create table head_history (
  org_id text not null,
  project_id text not null references projects,
  revision bigint not null,
  source_id text not null,
  apply_id text,
  created_at timestamptz(3) not null default now(),
  primary key (project_id, revision)
);
create index head_history_source on head_history (project_id, source_id);

-- Immutable source versions. The manifest (what the files are) and the packs (where their bytes lie) stay apart.
create table sources (
  org_id text not null,
  id text primary key,
  project_id text not null references projects,
  thread_id text,
  run_id text,
  parent_source_ids text[] not null default '{}',
  origin text not null check (origin in ('import', 'edit', 'run', 'restore', 'apply', 'recovery')),
  sha256 text not null,
  byte_size bigint not null,
  file_count integer not null,
  message text,
  -- Full when manifest_base is null, else a delta to that source's manifest.
  manifest bytea not null,
  manifest_base text,
  manifest_depth integer not null default 0,
  created_at timestamptz(3) not null default now()
);
create index sources_project on sources (project_id, id);

create table packs (
  org_id text not null,
  id text primary key,
  project_id text not null references projects,
  object_key text not null unique,
  byte_size bigint not null,
  -- sha256 of each blob → frame, offset and length in it; see sources/pack.ts.
  index bytea not null,
  created_at timestamptz(3) not null default now()
);
create index packs_project on packs (project_id, id);

-- Which pack holds a blob of a project. One row per distinct content; looked up for just the paths that an operation touches.
-- No foreign key to packs: 10,000 rows take 90 ms instead of 132, and a pack's deletion would read every blob of every project.
create table blobs (
  project_id text not null,
  sha256 bytea not null,
  pack_id text not null,
  primary key (project_id, sha256)
);

-- Objects that may exist in the store: registered before the put, so that an interrupted upload is found and removed.
create table objects (
  org_id text not null,
  key text primary key,
  project_id text not null,
  -- Null until the transaction that refers to it commits; then kept while the project exists.
  committed_at timestamptz(3),
  delete_after timestamptz(3),
  attempts integer not null default 0,
  created_at timestamptz(3) not null default now()
);
create index objects_project on objects (project_id);
create index objects_delete on objects (delete_after) where delete_after is not null;
create index objects_uncommitted on objects (created_at) where committed_at is null;

create table threads (
  org_id text not null,
  id text primary key,
  project_id text not null references projects,
  source_id text,
  latest_source_id text,
  model_id text,
  title text,
  metadata jsonb not null default '{}',
  -- Recomputed by threads/state.ts in every transaction that touches what it depends on.
  status text not null,
  archived_at timestamptz(3),
  sealed_at timestamptz(3),
  deleted_at timestamptz(3),
  initialization_state text not null,
  initialization_phase text,
  initialization_attempt_count integer not null default 0,
  initialization_error_code text,
  initialization_error_message text,
  initialization_updated_at timestamptz(3),
  workspace_status text,
  workspace_setup_status text,
  -- The source whose files the runner's workspace was last restored from or captured as.
  workspace_source_id text,
  runner_id text,
  idle_timeout_minutes integer,
  idle_expires_at timestamptz(3),
  spend_limit_micros bigint,
  spent_micros bigint not null default 0,
  version bigint not null default 1,
  title_version bigint not null default 1,
  archive_version bigint not null default 1,
  latest_user_message_at timestamptz(3),
  stop_requested_at timestamptz(3),
  -- What occupies the thread beside runs: at most one of them.
  exec_operation_id text,
  active_apply_id text,
  active_build_id text,
  -- The last ended run (repair apart) failed, and neither a newer source nor an unarchiving came since.
  last_run_failed boolean not null default false,
  message_sequence bigint not null default 0,
  created_by text not null,
  participant_user_ids text[] not null default '{}',
  tracker_issue_url text,
  error_tracker_issue jsonb,
  execution_target jsonb,
  base_branch text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index threads_project on threads (project_id, id) where deleted_at is null;
create index threads_org on threads (org_id, id) where deleted_at is null;
create index threads_idle on threads (idle_expires_at) where workspace_status = 'ready' and deleted_at is null;

create table messages (
  org_id text not null,
  id text primary key,
  thread_id text not null references threads,
  run_id text,
  role text not null check (role in ('user', 'assistant', 'system')),
  content text not null,
  attachments jsonb,
  sequence bigint not null,
  client_message_id text,
  created_at timestamptz(3) not null default now(),
  unique (thread_id, sequence)
);

create table runs (
  org_id text not null,
  id text primary key,
  project_id text not null,
  thread_id text not null references threads,
  message_id text,
  -- The assistant message's id, known from the start: drafts carry it.
  reply_message_id text not null,
  kind text not null check (kind in ('message', 'restore', 'repair', 'retry')),
  agent text not null,
  model_id text not null,
  -- What the agent is asked, where it is not the message's content (repair).
  prompt text,
  status text not null check (status in ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  base_source_id text,
  result_source_id text,
  checkpoint_id text,
  apply_id text,
  error_code text,
  error_message text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  cost_micros bigint not null default 0,
  warnings jsonb not null default '[]',
  steerable boolean not null default false,
  -- Queued, and held back by a concurrency limit.
  held boolean not null default false,
  cancel_requested_at timestamptz(3),
  -- Active time up to active_since; waiting does not count.
  active_duration_ms bigint not null default 0,
  active_since timestamptz(3),
  -- The last journal entry of the runner that is in the database.
  journal_offset bigint not null default -1,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3)
);
create index runs_thread on runs (thread_id, id);
create index runs_apply on runs (apply_id) where apply_id is not null;
-- Usage is summed over the runs of an organization in a time.
create index runs_usage on runs (org_id, created_at);
create unique index runs_active on runs (thread_id) where status in ('running', 'waiting');
create index runs_open on runs (status, id) where status in ('queued', 'running', 'waiting');

create table tools (
  org_id text not null,
  id text primary key,
  thread_id text not null,
  run_id text not null references runs,
  -- The agent's own name of the call.
  call_id text not null,
  name text not null,
  title text,
  status text not null check (status in ('pending', 'running', 'completed', 'failed', 'cancelled')),
  input jsonb,
  output text,
  truncated boolean not null default false,
  -- The event that recorded it: approvals name it.
  first_event_id text not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  unique (run_id, call_id)
);
create index tools_run on tools (run_id, id);

create table approvals (
  org_id text not null,
  id text primary key,
  thread_id text not null references threads,
  run_id text not null references runs,
  tool_id text not null references tools,
  -- The runner's name of the open question.
  request_id text not null,
  title text not null,
  status text not null check (status in ('pending', 'approved', 'denied', 'expired')),
  expires_at timestamptz(3) not null,
  resolved_by text,
  resolved_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  unique (run_id, request_id)
);
create index approvals_thread on approvals (thread_id, id);
create index approvals_pending on approvals (expires_at) where status = 'pending';

-- Answers kept for the same tool and command in a thread.
create table remembered_decisions (
  org_id text not null,
  thread_id text not null references threads,
  tool text not null,
  command text not null,
  allow boolean not null,
  created_at timestamptz(3) not null default now(),
  primary key (thread_id, tool, command)
);

-- The reply as it grows: beside the log, never in it. Lost with a crash, and nobody minds.
create unlogged table drafts (
  thread_id text primary key,
  org_id text not null,
  message_id text not null,
  run_id text not null,
  revision integer not null,
  content text not null,
  removed boolean not null default false,
  updated_at timestamptz(3) not null default now()
);

create table checkpoints (
  org_id text not null,
  id text primary key,
  thread_id text not null references threads,
  run_id text,
  source_id text not null,
  kind text not null check (kind in ('run', 'edit', 'recovery')),
  created_at timestamptz(3) not null default now()
);
create index checkpoints_thread on checkpoints (thread_id, id);

-- Each workspace change is one record and one event with its id.
create table workspace_records (
  org_id text not null,
  id text primary key,
  thread_id text not null references threads,
  run_id text,
  from_status text,
  to_status text not null,
  reason text not null,
  source_id text,
  created_at timestamptz(3) not null default now()
);
create index workspace_records_thread on workspace_records (thread_id, id);

create table applies (
  org_id text not null,
  id text primary key,
  project_id text not null references projects,
  thread_id text not null references threads,
  sequence bigint not null,
  conflict_resolution text not null check (conflict_resolution in ('agent', 'manual')),
  repairs jsonb not null default '[]',
  base_source_id text,
  draft_source_id text not null,
  head_source_id text,
  result_source_id text,
  expected_head_source_id text,
  resolutions jsonb not null default '[]',
  status text not null check (status in ('queued', 'applied', 'conflicted', 'failed')),
  conflicts jsonb not null default '[]',
  error text,
  cancel_requested_at timestamptz(3),
  repair_deadline timestamptz(3),
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  unique (project_id, sequence)
);
create index applies_project on applies (project_id, id);
create index applies_queued on applies (project_id, sequence) where status = 'queued';

-- What the last repair of a queued apply left, when it may be applied: published only by its apply, and gone with its end.
create table repair_candidates (
  org_id text not null,
  apply_id text primary key references applies,
  run_id text not null,
  -- Its files, as sources have them; their contents are in the project.
  manifest bytea not null,
  created_at timestamptz(3) not null default now()
);

create table builds (
  org_id text not null,
  id text primary key,
  project_id text not null references projects,
  thread_id text not null references threads,
  source_id text not null,
  command text not null,
  output_directory text not null,
  timeout_seconds integer not null,
  status text not null check (status in ('queued', 'building', 'ready', 'failed')),
  exit_code integer,
  error_code text,
  error_message text,
  artifact_key text,
  artifact_sha256 text,
  artifact_byte_size bigint,
  file_count integer,
  output_byte_size bigint,
  manifest jsonb,
  logs_byte_size bigint not null default 0,
  logs_truncated boolean not null default false,
  journal_offset bigint not null default -1,
  cancel_requested_at timestamptz(3),
  -- What it will end as, decided and stored; the status follows once its sandbox is gone.
  outcome text check (outcome in ('ready', 'failed')),
  -- The runner that has its sandbox.
  runner_id text,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  -- Committed before the command starts: no command runs twice.
  started_at timestamptz(3),
  finished_at timestamptz(3)
);
create index builds_thread on builds (thread_id, id);
create index builds_open on builds (project_id) where status in ('queued', 'building');

-- Appended in pieces: growing one text would write it anew with every piece.
create table build_logs (
  org_id text not null,
  build_id text not null references builds on delete cascade,
  -- The runner's last journal entry in this piece.
  journal_offset bigint not null,
  content text not null,
  primary key (build_id, journal_offset)
);

create table previews (
  org_id text not null,
  id text primary key,
  project_id text not null references projects,
  thread_id text not null references threads,
  status text not null check (status in ('starting', 'ready', 'failed', 'stopped')),
  token text not null unique,
  command text not null,
  port integer not null,
  source_id text,
  error_code text,
  error_message text,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3)
);
create index previews_thread on previews (thread_id, id);
create index previews_open on previews (thread_id) where status in ('starting', 'ready');

-- Committed events in the order of their transactions, until the publisher takes them. Inserted just before COMMIT, with all
-- locks held, so the identity's order is causal order.
create table outbox (
  id bigint generated always as identity primary key,
  event_id text not null,
  org_id text not null,
  -- platform: that app's feed and the all-apps feed; direct: the Direct feed. Never both.
  feed text not null check (feed in ('platform', 'direct')),
  type text not null,
  project_id text,
  thread_id text,
  run_id text,
  data jsonb not null,
  occurred_at timestamptz(3) not null default clock_timestamp()
);

-- The published log. Readers see this table only; one publisher gives `sequence`, without gaps, in one order for all.
create table events (
  org_id text not null,
  sequence bigint not null,
  event_id text not null,
  feed text not null,
  type text not null,
  project_id text,
  thread_id text,
  run_id text,
  data jsonb not null,
  occurred_at timestamptz(3) not null,
  published_at timestamptz(3) not null,
  primary key (sequence, published_at)
) partition by range (published_at);
create table events_default partition of events default;
create index events_project on events (project_id, sequence);
create index events_thread on events (thread_id, sequence);
create index events_org on events (org_id, feed, sequence);

-- One row: the end of the published log.
create table log_state (
  one boolean primary key default true check (one),
  last_sequence bigint not null default 0,
  last_published_at timestamptz(3) not null default clock_timestamp()
);
insert into log_state default values;

create table workers (
  id text primary key,
  -- The key of the session advisory lock that the worker holds while it lives.
  lock_key bigint generated always as identity (start with 4400000000),
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now()
);

create table jobs (
  id bigint generated always as identity primary key,
  kind text not null,
  -- Jobs of one key run one at a time, in order.
  key text,
  payload jsonb not null,
  status text not null default 'queued' check (status in ('queued', 'active')),
  run_at timestamptz(3) not null default now(),
  -- Rises with each claim and fences every write of the one before.
  attempt integer not null default 0,
  failures integer not null default 0,
  worker_id text,
  last_error text,
  claimed_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create unique index jobs_active_key on jobs (key) where status = 'active' and key is not null;
create index jobs_ready on jobs (run_at, id) where status = 'queued';
create index jobs_key on jobs (key, id) where key is not null;
create index jobs_worker on jobs (worker_id) where status = 'active';
