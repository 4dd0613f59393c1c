-- Readers of the log inside the service, each with a named position: no reader takes an event twice.
create table log_consumers (
  name text primary key,
  sequence bigint not null,
  -- The publication time of the last event taken.
  published_at timestamptz(3) not null
);
insert into log_consumers
  select name, last_sequence, last_published_at from log_state cross join unnest(array['webhooks', 'automations']) as name;

-- Customers' URLs that receive events of the Direct feed.
create table webhook_subscriptions (
  org_id text not null references organizations,
  id text primary key,
  project_id text references projects,
  url text not null,
  -- As given, without duplicates: types, groups (`run.*`), `*`.
  types text[] not null,
  disabled_reason text check (disabled_reason in ('user', 'gone', 'failures')),
  -- The time of the first failed attempt, and their number, since the last success or since it was enabled.
  failing_since timestamptz(3),
  failed_attempts integer not null default 0,
  -- Null after deletion.
  secret_sealed bytea,
  -- The secret before the last rotation, which also signs until then.
  former_secret_sealed bytea,
  former_secret_until timestamptz(3),
  -- Events up to this sequence are not delivered: they precede its creation, or the time when it was enabled again.
  after_sequence bigint not null,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Its rows are removed in batches later.
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
  -- The event as in the log, without the organization: the log may drop it before the last attempt.
  event jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  attempt_count integer not null default 0,
  -- The last ten, oldest first.
  attempts jsonb not null default '[]',
  next_attempt_at timestamptz(3),
  error_code text check (error_code in ('exhausted', 'gone', 'platform_app_event', 'expired', 'overflow')),
  redelivery_of text,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  check ((status = 'pending') = (next_attempt_at is not null)),
  check ((status = 'pending') = (finished_at is null))
);
-- Lists, newest first. The index contains the filtered columns: to find the only delivery of a status among 100,000
-- takes 10 ms. In the order of `id`, the planner would walk the primary key through the rows of all subscriptions.
create index webhook_deliveries_list on webhook_deliveries (subscription_id, number, status, event_type);
-- First attempts begin in the log's order, regardless of the clock; later ones when they are due. Each kind has an
-- index, so that a scan of one does not walk the rows of the other.
create index webhook_deliveries_first on webhook_deliveries (subscription_id, number) where status = 'pending' and attempt_count = 0;
create index webhook_deliveries_again on webhook_deliveries (subscription_id, next_attempt_at, number) where status = 'pending' and attempt_count > 0;
-- Deliveries that are also sent while the subscription is disabled.
create index webhook_deliveries_pings on webhook_deliveries (subscription_id, number) where status = 'pending' and event_type = 'webhook.ping';
-- For expiry.
create index webhook_deliveries_pending on webhook_deliveries (created_at) where status = 'pending';
create index webhook_deliveries_ended on webhook_deliveries (finished_at) where status <> 'pending';
