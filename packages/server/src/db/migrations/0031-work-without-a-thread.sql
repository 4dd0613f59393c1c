-- Builds and previews of an app itself, which belong to no thread.
alter table builds alter column thread_id drop not null;
alter table previews alter column thread_id drop not null,
  -- Newer heads are written into it. Without a thread, one that does not follow the head shows one source.
  add column follows_head boolean not null default false,
  -- Sources whose writing has begun since `source_id` was known to be there, null for none: the sandbox may hold
  -- each of them wholly or in part.
  add column tried_source_ids text[] not null default '{}';

-- The list of one app is of a Direct project, too, whose rows no other list has. Rows of deleted apps lie apart.
drop index builds_listed_of_app, previews_listed_of_app;
create index builds_of_app on builds (project_id, listed, status, id collate "C");
create index previews_of_app on previews (project_id, listed, status, id collate "C");
-- What a list is filtered by. An app may have many builds, and few of them without a thread.
create index builds_without_thread on builds (project_id, id collate "C") where thread_id is null;
create index previews_without_thread on previews (project_id, id collate "C") where thread_id is null;
create index builds_source on builds (source_id);
create index previews_source on previews (source_id);
