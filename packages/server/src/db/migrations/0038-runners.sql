-- Runners of a fleet, by their boot ids: what they report every few seconds, and what the workers make of their silence.
create table runners (
  boot_id text primary key,
  name text not null,
  -- Where its listener answers: host:port.
  address text not null,
  pool text not null,
  -- Versions of the protocol that it speaks, from and to.
  protocol integer[] not null,
  -- How much work it takes at once, and how much it has: the places in runner_places, counted again from time to time.
  capacity integer not null,
  reserved integer not null default 0,
  memory_bytes bigint,
  free_bytes bigint,
  -- Whether it can make sandboxes.
  is_ok boolean not null,
  is_draining boolean not null,
  state text not null default 'ready' check (state in ('ready', 'suspect', 'lost', 'gone')),
  -- Projects that it keeps files of.
  groups text[] not null default '{}',
  status jsonb not null,
  first_seen_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now()
) with (fillfactor = 50);
create index runners_groups on runners using gin (groups) with (fastupdate = off);

-- Whose work has a place at which runner: by the key of its jobs, for as long as there is one.
create table runner_places (
  holder text primary key,
  boot_id text not null,
  taken_at timestamptz(3) not null default now()
);
create index runner_places_boot on runner_places (boot_id);

alter table previews add column runner_id text;
create index threads_at_runner on threads (runner_id) where workspace_status in ('preparing', 'ready', 'cleanup_pending') and deleted_at is null;
create index execs_task on execs (operation_id) where status in ('queued', 'running');
