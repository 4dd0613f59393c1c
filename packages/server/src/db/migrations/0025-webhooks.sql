-- Readers of the log inside the service, each at a named position: what each has taken, it has taken for good.
create table log_consumers (
  name text primary key,
  sequence bigint not null,
  -- When the last event that was taken was published.
  published_at timestamptz(3) not null
);
insert into log_consumers
  select name, last_sequence, last_published_at from log_state cross join unnest(array['webhooks', 'automations']) as name;

-- Addresses of customers that are told of events of the Direct feed.
create table webhook_subscriptions (
  org_id text not null references organizations,
  id text primary key,
  project_id text references projects,
  url text not null,
  -- As they were given, each once: types, groups (`run.*`), `*`.
  types text[] not null,
  disabled_reason text check (disabled_reason in ('user', 'gone', 'failures')),
  -- Since the last success, or since it was enabled: when the first attempt failed, and how many did.
  failing_since timestamptz(3),
  failed_attempts integer not null default 0,
  -- Null once it is deleted.
  secret_sealed bytea,
  -- Signs, too, until then: the secret before the last rotation.
  former_secret_sealed bytea,
  former_secret_until timestamptz(3),
  -- Events up to this sequence are not its concern: they are from before it was made, or enabled again.
  after_sequence bigint not null,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Its rows are removed in batches afterwards.
  deleted_at timestamptz(3),
  check ((secret_sealed is null) = (deleted_at is not null))
);
create index webhook_subscriptions_org on webhook_subscriptions (org_id, id) where deleted_at is null;
create index webhook_subscriptions_project on webhook_subscriptions (project_id) where deleted_at is null;
create index webhook_subscriptions_deleted on webhook_subscriptions (deleted_at) where deleted_at is not null;

create table webhook_deliveries (
  org_id text not null,
  id text primary key,
  subscription_id text not null references webhook_subscriptions,
  -- In the log's order.
  number bigint generated always as identity,
  project_id text,
  event_id text not null,
  event_type text not null,
  -- The event as the log has it, without the organization: it may be gone from there before the last attempt.
  event jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  attempt_count integer not null default 0,
  -- The last ten, the oldest first.
  attempts jsonb not null default '[]',
  next_attempt_at timestamptz(3),
  error_code text check (error_code in ('exhausted', 'gone', 'platform_app_event', 'expired', 'overflow')),
  redelivery_of text,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  check ((status = 'pending') = (next_attempt_at is not null)),
  check ((status = 'pending') = (finished_at is null))
);
-- Lists, newest first. What they filter by is in the index: among 100,000 deliveries, a status that one of them has
-- costs 10 ms. In the order of `id` the planner would walk the primary key, through all other subscriptions' rows.
create index webhook_deliveries_list on webhook_deliveries (subscription_id, number, status, event_type);
-- First attempts begin in the log's order, whatever the clock says; further ones when they are due. Each has an
-- index, so that neither walks the others' rows.
create index webhook_deliveries_first on webhook_deliveries (subscription_id, number) where status = 'pending' and attempt_count = 0;
create index webhook_deliveries_again on webhook_deliveries (subscription_id, next_attempt_at, number) where status = 'pending' and attempt_count > 0;
-- What goes while the subscription is disabled.
create index webhook_deliveries_pings on webhook_deliveries (subscription_id, number) where status = 'pending' and event_type = 'webhook.ping';
-- What gets too old.
create index webhook_deliveries_pending on webhook_deliveries (created_at) where status = 'pending';
create index webhook_deliveries_ended on webhook_deliveries (finished_at) where status <> 'pending';
