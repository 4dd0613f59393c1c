-- Rolling windows of requests, one row a bucket (a key, an address, a user): what each process has used of it and what it holds leased.
-- Few writes by design: a process leases a slice and counts in memory. Nothing here has to survive a crash of the server's machine.
create table rate_windows (
  bucket text primary key,
  shares jsonb not null,
  -- Until here something in `shares` counts. No index: updates stay on their page, and the table is as small as the callers of one window.
  expires_at timestamptz not null
) with (fillfactor = 60);
