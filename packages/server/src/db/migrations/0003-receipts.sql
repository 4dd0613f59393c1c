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
