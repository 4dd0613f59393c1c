-- Skills of agents: folders of files, each one stored object. Those of an organization (`project_id` null) hold in all its projects, where none of theirs has the name.
create table skills (
  org_id text not null references organizations,
  id text primary key,
  project_id text references projects,
  -- Lists are sorted by the names' bytes.
  name text collate "C" not null,
  description text not null,
  file_count integer not null,
  byte_size integer not null,
  sha256 text not null,
  -- Its files as a tar.gz in the store.
  archive_key text not null,
  archive_sha256 text not null,
  archive_byte_size integer not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique nulls not distinct (org_id, project_id, name)
);
create index skills_project on skills (project_id) where project_id is not null;

-- Null: of an organization.
alter table objects alter column project_id drop not null;
create index objects_organization on objects (org_id) where project_id is null;

-- What its agent is told, as it was when the run began; null where there is nothing, and when it has ended.
alter table runs add column context jsonb;
