-- The thread, checkpoint and source that a fork began from. Ids only: they stay when the parent is deleted.
alter table threads add column forked_from jsonb;

-- What was said before a fork began, oldest first. The texts are copies: a parent's messages go when it is deleted, and the agents of its
-- forks keep what they were told. `message_id` lists the messages that are still there.
create table inherited_messages (
  org_id text not null,
  thread_id text not null,
  position integer not null,
  message_id text not null,
  role text not null,
  content text not null,
  primary key (thread_id, position)
);

-- Which runs had ended when a checkpoint was made is a question of times. now() is the start of a transaction that may have waited for the
-- end of a run.
alter table checkpoints alter column created_at set default clock_timestamp();

-- The commit that the thread's change is based on at the checkpoint: an update from the base moves that of the thread. Null where none is
-- known, and in checkpoints from before this column.
alter table checkpoints add column base_commit_sha text;
