-- Source control: installations and repositories of an organization, the built-in provider's records, sources
-- of commits, and pull requests of threads.
create table installations (
  org_id text not null references organizations,
  id text primary key,
  provider text not null check (provider in ('local', 'github')),
  name text not null,
  account_login text,
  base_url text,
  auth text not null check (auth in ('none', 'token', 'app')),
  managed_by text not null check (managed_by in ('service', 'config', 'api')),
  credential_sealed bytea,
  webhook_secret_sealed bytea,
  error jsonb,
  webhook_received_at timestamptz(3),
  synced_at timestamptz(3),
  -- When its repositories are read again unasked; null: at once.
  sync_due_at timestamptz(3),
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index installations_local on installations (org_id) where provider = 'local' and deleted_at is null;
create index installations_org on installations (org_id, id) where deleted_at is null;

-- A repository is known by provider, address and the provider's own id: it outlives its installation and its name.
create table repositories (
  org_id text not null references organizations,
  id text primary key,
  installation_id text not null references installations,
  provider text not null check (provider in ('local', 'github')),
  base_url text not null default '',
  external_id text not null,
  full_name text not null,
  name text not null,
  private boolean not null default true,
  archived boolean not null default false,
  default_branch text not null,
  -- Addresses at the provider; the built-in one's follow from its name.
  url text,
  clone_url text,
  merge_methods text[] not null default '{merge,squash,rebase}',
  required_checks text[] not null default '{}',
  -- The last number of a pull request at the built-in provider.
  last_number bigint not null default 0,
  -- Seen no more by its installation, or deleted there.
  gone_at timestamptz(3),
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (org_id, provider, base_url, external_id)
);
create unique index repositories_local_name on repositories (org_id, name) where provider = 'local' and deleted_at is null;
create index repositories_list on repositories (org_id, full_name collate "C", id) where deleted_at is null;
create index repositories_installation on repositories (installation_id);

create table commit_statuses (
  org_id text not null,
  id text primary key,
  repository_id text not null references repositories,
  commit_sha text not null,
  context text not null,
  state text not null check (state in ('pending', 'success', 'failure', 'error')),
  description text,
  target_url text,
  log text,
  created_by text,
  created_at timestamptz(3) not null default now()
);
create index commit_statuses_commit on commit_statuses (repository_id, commit_sha, id);

-- Pull requests of the built-in provider.
create table local_pull_requests (
  org_id text not null,
  repository_id text not null references repositories,
  number bigint not null,
  title text not null,
  body text not null default '',
  state text not null check (state in ('open', 'closed', 'merged')),
  draft boolean not null default false,
  head_ref text not null,
  head_sha text not null,
  base_ref text not null,
  -- The base's tip for which `mergeable` was found out, with this head.
  base_sha text,
  mergeable text not null default 'unknown' check (mergeable in ('mergeable', 'conflicting', 'unknown')),
  merge_commit_sha text,
  -- The commit that a merge under way brings to the base: once the base has it, this is merged.
  merging_sha text,
  author text not null,
  -- The operation that made it, so that a look finds it again.
  operation_id text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (repository_id, number)
);
create unique index local_pull_requests_open on local_pull_requests (repository_id, head_ref, base_ref) where state = 'open';

create table local_comments (
  org_id text not null,
  id text primary key,
  repository_id text not null,
  number bigint not null,
  body text not null,
  path text,
  line bigint,
  in_reply_to text references local_comments,
  resolved boolean not null default false,
  author text not null,
  author_id text,
  created_at timestamptz(3) not null default now(),
  foreign key (repository_id, number) references local_pull_requests
);
create index local_comments_pull on local_comments (repository_id, number, id);

-- Deliveries of providers that were taken, for seven days.
create table scm_deliveries (
  installation_id text not null references installations,
  delivery_id text not null,
  received_at timestamptz(3) not null default now(),
  primary key (installation_id, delivery_id)
);
create index scm_deliveries_old on scm_deliveries (received_at);

-- The commit that a source was fetched from.
alter table sources
  add column commit_sha text,
  add column commit_branch text,
  -- The first 100 of what the commit has and the source may not: [{path, reason}].
  add column kept_aside jsonb,
  add column kept_aside_count integer;
create unique index sources_commit on sources (project_id, commit_sha) where commit_sha is not null;

alter table projects add column head_commit_sha text;
create index projects_repository on projects (repository_id) where repository_id is not null and deleted_at is null;

alter table threads
  add column base_commit_sha text,
  -- A class D operation on a pull request of the thread is under way.
  add column pull_request_operation_id text;

create table pull_requests (
  org_id text not null,
  id text primary key,
  project_id text not null references projects,
  thread_id text not null references threads,
  repository_id text not null references repositories,
  number bigint not null,
  url text not null,
  repo_full_name text not null,
  title text not null,
  body text not null default '',
  state text not null check (state in ('open', 'closed', 'merged')),
  draft boolean not null default false,
  head_ref text not null,
  head_sha text not null,
  base_ref text not null,
  -- The thread's source that head_sha holds.
  head_source_id text,
  auto_push boolean not null default true,
  -- Another thread has taken it over: this one only shows it.
  transferred_at timestamptz(3),
  push_status text not null default 'current' check (push_status in ('current', 'pending', 'diverged', 'failed')),
  push_reason text,
  push_conflicts text[] not null default '{}',
  push_error jsonb,
  push_attempts integer not null default 0,
  push_retry_at timestamptz(3),
  -- Whose files count where both have diverged, as a caller has decided.
  push_take text check (push_take in ('branch', 'thread')),
  -- The commit that a push under way brings to the branch, and the source that it holds.
  pushing_sha text,
  pushing_source_id text,
  -- The last update from the base, and the run that repairs for it.
  branch_update jsonb,
  update_run_id text,
  -- The base's commit that the next pushed one has as its second parent: the thread holds their merge.
  merge_parent_sha text,
  merge_commit_sha text,
  merged_at timestamptz(3),
  scm_summary jsonb,
  scm_summary_updated_at timestamptz(3),
  -- Looks in a row that found `mergeable` unknown.
  unknown_looks integer not null default 0,
  -- News of this one, so that what a look has read before is read again.
  hints bigint not null default 0,
  -- What the reviews were last read for, and when: while it is the same, they are read seldom.
  reviews_mark text,
  reviews_read_at timestamptz(3),
  looked_at timestamptz(3),
  next_look_at timestamptz(3),
  version bigint not null default 1,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index pull_requests_thread on pull_requests (thread_id, id);
create unique index pull_requests_open on pull_requests (thread_id) where state = 'open' and transferred_at is null;
create index pull_requests_repository on pull_requests (repository_id, number);
create index pull_requests_updating on pull_requests (id) where branch_update->>'status' = 'running';
create index pull_requests_due on pull_requests (next_look_at) where next_look_at is not null;

create table review_loops (
  org_id text not null,
  id text primary key,
  pull_request_id text not null unique references pull_requests,
  thread_id text not null references threads,
  enabled boolean not null,
  auto_merge boolean not null default false,
  status text not null check (status in ('disabled', 'observing', 'waiting_checks', 'fixing', 'finalizing', 'ready', 'blocked', 'error')),
  disabled_by text check (disabled_by in ('user', 'system', 'transferred')),
  head_sha text,
  last_processed_head_sha text,
  last_observed_at timestamptz(3),
  wait_until timestamptz(3),
  last_fix_run_id text,
  last_error_code text,
  last_error_message text,
  blocked_reason text,
  pass_count integer not null default 0,
  operational_retry_count integer not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index review_loops_thread on review_loops (thread_id);

-- Every organization has its built-in installation.
insert into installations (org_id, id, provider, name, auth, managed_by)
  select id, 'ins_' || substr(id, 5), 'local', 'Built-in', 'none', 'service' from organizations where deleted_at is null;

-- What a project and a thread named before was looked up by nothing.
update projects set repository_id = null where repository_id is not null;
update threads set base_branch = null where base_branch is not null;
