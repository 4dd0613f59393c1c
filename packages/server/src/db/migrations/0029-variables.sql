-- Environment variables of sandboxes. Those of an organization (`project_id` null) hold in all its projects, where none of theirs has the name.
create table variables (
  org_id text not null references organizations,
  id text primary key,
  project_id text references projects,
  -- Lists are sorted by the names' bytes.
  name text collate "C" not null,
  value_sealed bytea not null,
  -- Of name and value.
  byte_size integer not null,
  is_secret boolean not null,
  targets text[] not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique nulls not distinct (org_id, project_id, name)
);
create index variables_project on variables (project_id) where project_id is not null;
