-- Models and their money, messages that steer a run, MCP servers.

-- What has been spent on models, and what is promised to calls under way. A scope is a thread for its life (period ''), or a project or an
-- organization in a UTC month (period '2026-11'). One row is locked at a time in the order organization, project, thread.
create table spending (
  org_id text not null,
  scope_id text not null,
  period text not null,
  spent_micros bigint not null default 0,
  reserved_micros bigint not null default 0,
  primary key (scope_id, period)
);
insert into spending (org_id, scope_id, period, spent_micros) select org_id, id, '', spent_micros from threads where spent_micros > 0;
alter table threads drop column spent_micros;

-- One call of a model through the gateway.
create table model_calls (
  org_id text not null,
  id bigint generated always as identity primary key,
  project_id text not null,
  thread_id text not null,
  run_id text not null,
  provider text not null,
  model text not null,
  status text not null check (status in ('open', 'settled')),
  -- The month whose budgets it counts in.
  period text not null,
  reserved_micros bigint not null,
  cost_micros bigint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  -- How it ended: 'ok', or what went wrong; null while it is open.
  outcome text,
  -- Renewed by the process that relays it; over: that process died, and nobody knows what the call cost.
  lease_until timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  settled_at timestamptz(3)
);
create index model_calls_run on model_calls (run_id, id);
create index model_calls_open on model_calls (lease_until) where status = 'open';

alter table runs
  -- Model → prices in micro-units for a million tokens, as they were when the run first called it.
  add column prices jsonb not null default '{}',
  -- {code, message, count}: its last model calls failed, so many in a row; null when the last one went well.
  add column model_failure jsonb;

-- A message that joined an active run: sent, until the agent said that it took it.
alter table messages add column steering text check (steering in ('sent', 'taken'));
create index messages_steering on messages (run_id) where steering = 'sent';

create table mcp_servers (
  org_id text not null references organizations,
  id text primary key,
  name text not null,
  transport text not null check (transport in ('http', 'stdio')),
  url text,
  command text,
  -- Names of its headers or environment variables; their values are sealed.
  secret_names text[] not null default '{}',
  secrets_sealed bytea,
  -- null: every project of the organization.
  project_ids text[],
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index mcp_servers_org on mcp_servers (org_id, id);
