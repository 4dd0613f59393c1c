-- Writes with effects outside of the database (operations/outside.ts).
alter table operations
  -- Only of such a write: whose look settles it when its process died, and what it looks for. No secrets.
  add column look_name text,
  add column look_target jsonb,
  -- Looks that could not find it out; the next one waits the longer.
  add column looks integer not null default 0,
  add column uncertain_at timestamptz(3);
comment on column operations.lease_until is 'pending: the end of the claim''s lease; uncertain: when it is looked at next';
create index operations_uncertain on operations (lease_until) where status = 'uncertain';
-- Released claims: read for a while, reserved by nobody, then forgotten.
create index operations_released on operations (settled_at) where settled_at is not null and reserved_until is null;

-- Answers that a replay repeats with a secret in them (an invitation's address): the whole answer sealed, `response` without the secret.
alter table operations add column response_sealed bytea;

-- Locks a key for `operation` and reads its receipt, in one round trip. The read is a statement of its own, with a snapshot taken after the
-- lock: it sees the receipt that the lock's last holder committed. Without enable_seqscan off, a plan made while the table is small would
-- read all of it until the next ANALYZE (measured: 3.7 ms a look-up at 20,000 receipts, against 0.2).
create function take_key(lock bigint, operation text, org text, actor text, key text)
  returns table (held boolean, id text, fingerprint bytea, status text, fence integer, response_status integer, response text, response_sealed bytea, project_id text, look_name text, is_over boolean, is_lease_over boolean)
  language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
  is_held boolean := pg_try_advisory_xact_lock(lock);
begin
  -- Tells rivals in other processes which operation they met (operations/take-key.ts).
  if is_held then perform set_config('application_name', operation, true); end if;
  return query
    select is_held, o.id, o.fingerprint, o.status, o.fence, o.response_status, o.response, o.response_sealed, o.project_id, o.look_name,
      o.status in ('succeeded', 'failed') and (o.reserved_until is null or o.reserved_until < clock_timestamp()), coalesce(o.lease_until < clock_timestamp(), false)
    from (select 1) as one left join operations o on o.org_id = org and o.actor_id = actor and o.idempotency_key = key;
end $$;
