-- The review loop's looks and passes.
alter table review_loops
  -- When it was enabled last.
  add column enabled_at timestamptz(3) not null default now(),
  -- When its status last changed.
  add column status_since timestamptz(3) not null default now(),
  -- When head_sha was first seen; null before the first look.
  add column head_seen_at timestamptz(3),
  -- Since when the provider does not say whether the pull request can be merged.
  add column unknown_since timestamptz(3),
  -- What the provider said of the pull request when it refused the last merge.
  add column refused_summary jsonb,
  -- The head that the loop asked the provider to merge; null where nothing came of it.
  add column merging_sha text;

-- The newest source whose runs a commit has named, where others' commits came upon it; else null: head_source_id.
alter table pull_requests add column named_source_id text;

-- A status says which commit it is of.
create index pull_requests_head on pull_requests (repository_id, head_sha) where state <> 'merged';

create table review_passes (
  org_id text not null,
  id text primary key,
  loop_id text not null references review_loops on delete cascade,
  -- When the loop had been enabled: what was disabled meanwhile hears no more of it.
  loop_enabled_at timestamptz(3) not null,
  -- A message to the agent, or an update from the base.
  kind text not null check (kind in ('message', 'update')),
  -- The head for which it was made.
  head_sha text not null,
  -- Its system message, and the newest run of it; of an update neither.
  message_id text,
  run_id text,
  -- Its runs that were lost, and when the next one is due.
  lost_runs integer not null default 0,
  retry_at timestamptz(3),
  -- Once its outcome is known, and its replies are on their way.
  settled_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create index review_passes_loop on review_passes (loop_id, id);
create index review_passes_run on review_passes (run_id) where run_id is not null;

-- Comments of which a pass was told, at most one of a review thread: what is newer is a point again.
create table review_points (
  org_id text not null,
  loop_id text not null references review_loops on delete cascade,
  pass_id text not null references review_passes on delete cascade,
  review_thread_id text not null,
  comment_id text not null,
  comment_at timestamptz(3) not null,
  -- The commit that a reply names, once there is one to make; and when it was made.
  reply_sha text,
  replied_at timestamptz(3),
  primary key (pass_id, review_thread_id)
);
create index review_points_thread on review_points (loop_id, review_thread_id);
create index review_points_due on review_points (loop_id) where reply_sha is not null and replied_at is null;
