-- Every process of the service, by its sign of life: who answers, who works, and what its runner reports.
create table processes (
  id text primary key,
  host text not null,
  roles text[] not null,
  started_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  -- When a worker's runner could make sandboxes last; null where it said that it cannot, and for other processes.
  sandbox_seen_at timestamptz(3),
  -- What the runner of a worker's or runner's host reported last; null while none answers.
  runner jsonb
);
