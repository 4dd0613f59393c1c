-- The review loop's looks and passes.
alter table review_loops
  -- When it was last enabled.
  add column enabled_at timestamptz(3) not null default now(),
  -- When its status last changed.
  add column status_since timestamptz(3) not null default now(),
  -- When head_sha was first seen; null before the first look.
  add column head_seen_at timestamptz(3),
  -- Since when the provider has not said whether the pull request can be merged.
  add column unknown_since timestamptz(3),
  -- The provider's summary of the pull request when it refused the last merge.
  add column refused_summary jsonb,
  -- The head that the loop asked the provider to merge; null if the request had no effect.
  add column merging_sha text;

-- The newest source whose runs are named in a commit, if others' commits followed it; null: head_source_id.
alter table pull_requests add column named_source_id text;

-- A status names its commit.
create index pull_requests_head on pull_requests (repository_id, head_sha) where state <> 'merged';

create table review_passes (
  org_id text not null,
  id text primary key,
  loop_id text not null references review_loops on delete cascade,
  -- The loop's enabled_at: a loop that was disabled since ignores the pass.
  loop_enabled_at timestamptz(3) not null,
  -- A message to the agent, or an update from the base.
  kind text not null check (kind in ('message', 'update')),
  -- The head at its start.
  head_sha text not null,
  -- Its system message and the message's newest run; null for an update.
  message_id text,
  run_id text,
  -- The number of lost runs, and when the retry is due.
  lost_runs integer not null default 0,
  retry_at timestamptz(3),
  -- When its outcome was handled and its replies were enqueued.
  settled_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index review_passes_loop on review_passes (loop_id, id);
create index review_passes_run on review_passes (run_id) where run_id is not null;

-- Comments in a pass, at most one of each review thread. A newer comment is a new point.
create table review_points (
  org_id text not null,
  loop_id text not null references review_loops on delete cascade,
  pass_id text not null references review_passes on delete cascade,
  review_thread_id text not null,
  comment_id text not null,
  comment_at timestamptz(3) not null,
  -- The commit that the reply names, once a reply is due, and when the reply was sent.
  reply_sha text,
  replied_at timestamptz(3),
  primary key (pass_id, review_thread_id)
);
create index review_points_thread on review_points (loop_id, review_thread_id);
create index review_points_due on review_points (loop_id) where reply_sha is not null and replied_at is null;
