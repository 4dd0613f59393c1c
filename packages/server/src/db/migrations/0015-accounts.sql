-- A session is listed and ended by its id; the token stays a hash. Sessions that were open before get ids in the order of their start.
alter table sessions
  add column id text,
  add column address text,
  add column user_agent text,
  add column last_seen_at timestamptz(3);
update sessions s set
  last_seen_at = s.created_at,
  id = 'ses_' || (
    select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + digit, 1), '' order by place)
    from (
      select i as place, (((extract(epoch from s.created_at) * 1000)::bigint >> (5 * (9 - i))) & 31)::integer as digit from generate_series(0, 9) i
      union all
      select 10 + i, get_byte(sha256(s.token_hash), i) & 31 from generate_series(0, 15) i
    ) digits
  );
alter table sessions
  alter column id set not null,
  alter column last_seen_at set not null,
  alter column last_seen_at set default now();
create unique index sessions_id on sessions (id);
drop index sessions_user;
create index sessions_user on sessions (user_id, id);

-- What bounds the guessing of passwords. An account is the SHA-256 of an e-mail address, whether it has a user or not.
create table sign_in_failures (
  account bytea primary key,
  -- Wrong passwords, and those that are being looked at; from all networks.
  failures integer not null,
  expires_at timestamptz(3) not null
);
create index sign_in_failures_expiry on sign_in_failures (expires_at);
create table sign_in_networks (
  account bytea not null,
  -- An IPv4 address, or the first 64 bits of an IPv6 address.
  network text not null,
  -- The right password came from here.
  is_known boolean not null,
  -- The last attempt that was looked at; before the first one, the attempt that has to wait.
  attempted_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (account, network)
);
create index sign_in_networks_expiry on sign_in_networks (expires_at);

-- To the minute, written lazily.
alter table credentials add column last_used_at timestamptz(3);

create index invitations_org on invitations (org_id, id);

-- A restore names its source: it may be of any thread of the project, with a checkpoint or without one.
alter table runs add column restore_source_id text;
update runs r set restore_source_id = c.source_id from checkpoints c where c.id = r.checkpoint_id;
alter table runs drop column checkpoint_id;
