-- A setup runs a command once over the files that the setting names; what it leaves is a layer below the files of workspaces, kept by a runner.
create table setups (
  org_id text not null references organizations,
  id text primary key,
  project_id text not null references projects,
  -- SHA-256 in hex, see setups/key.ts.
  key text not null,
  command text not null,
  -- Of the source that asked first, the files that the sandbox has.
  paths text[] not null,
  timeout_seconds integer not null,
  -- The system of its sandbox, of which the key is; null: the host's own.
  runtime text,
  source_id text not null,
  status text not null check (status in ('queued', 'running', 'ready', 'failed')),
  exit_code integer,
  error_code text,
  error_message text,
  byte_size bigint,
  -- Since when the runner has the layer no more.
  layer_gone_at timestamptz(3),
  held boolean not null default false,
  logs_byte_size bigint not null default 0,
  logs_truncated boolean not null default false,
  journal_offset bigint not null default -1,
  -- The runner that has its sandbox, and keeps its layer.
  runner_id text,
  created_at timestamptz(3) not null default now(),
  -- Committed before the command starts: no command runs twice.
  started_at timestamptz(3),
  finished_at timestamptz(3)
);
create unique index setups_under_way on setups (project_id, key) where status in ('queued', 'running');
create index setups_key on setups (project_id, key, id collate "C");
create index setups_project on setups (project_id, id collate "C");
-- Which of an organization's apps was served last.
create index setups_started on setups (project_id, started_at);
create index setups_held_of_org on setups (org_id) where status = 'queued' and held;

create table setup_logs (
  org_id text not null,
  setup_id text not null references setups on delete cascade,
  -- The runner's last journal entry in this piece.
  journal_offset bigint not null,
  content text not null,
  primary key (setup_id, journal_offset)
);

alter table threads add column setup_id text;
alter table builds add column setup boolean not null default false;
-- The setup whose layer it was started with.
alter table builds add column layer_of text;
alter table previews add column setup boolean not null default true;
-- From when its time to start counts; a preview that waits for a setup has all of it left.
alter table previews add column starting_since timestamptz(3) not null default now();
update previews set starting_since = created_at;

-- What a job that was put off waits for: the end of a setup makes it due.
alter table jobs add column waits_for text;
create index jobs_waiting_for on jobs (waits_for) where waits_for is not null;
