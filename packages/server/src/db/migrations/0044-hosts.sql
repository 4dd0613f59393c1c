-- People's own machines, on which threads may work. What the program of one told last is kept here.
create table hosts (
  org_id text not null references organizations,
  id text primary key,
  name text not null,
  -- Its person.
  user_id text not null references users,
  -- Null after deletion.
  token_hash bytea,
  share text not null default 'owner' check (share in ('owner', 'organization')),
  version text,
  providers text[] not null default '{}',
  -- Counts its connections: the one of this number counts, and the process that holds it may write below.
  epoch bigint not null default 0,
  -- The process that holds the connection, and the unix socket at which it passes calls on; null: offline.
  process_id text,
  socket text,
  -- The last sign of life.
  last_seen_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  check ((token_hash is null) = (deleted_at is not null)),
  check ((process_id is null) = (socket is null))
);
create index hosts_org on hosts (org_id, id) where deleted_at is null;

create table bindings (
  org_id text not null references organizations,
  host_id text not null references hosts,
  id text primary key,
  name text collate "C" not null,
  workspace_modes text[] not null,
  is_git boolean not null,
  branch text,
  removed boolean not null default false,
  unique (host_id, name)
);

create index threads_at_host on threads ((execution_target->>'hostId')) where execution_target is not null and deleted_at is null;

-- The host of a thread's execution target, if it is there and offline. As hosts/store.ts says who is online.
create function away_host(target jsonb) returns text language sql stable as $$
  select id from hosts where id = target->>'hostId' and deleted_at is null
    and (process_id is null or last_seen_at <= now() - interval '45 seconds')
$$;
