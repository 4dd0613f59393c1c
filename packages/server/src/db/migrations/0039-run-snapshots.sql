-- The work of a run under way, as it was captured last while its agent stood still. A newer one replaces it; the end of the run removes it.
create table run_snapshots (
  org_id text not null references organizations,
  run_id text primary key references runs on delete cascade,
  -- Its files, as a delta to those of the run's base (an empty tree where it has none).
  delta bytea not null,
  -- The pack of the contents that the project did not have; null: it had all of them. Its object is committed, and this row names it.
  pack_id text,
  object_key text,
  byte_size bigint,
  pack_index bytea,
  created_at timestamptz(3) not null default now()
);
create index run_snapshots_object on run_snapshots (object_key) where object_key is not null;

-- When its snapshot was taken; null: it has none.
alter table runs add column snapshot_at timestamptz(3);
