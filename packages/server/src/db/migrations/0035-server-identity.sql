-- Which server this is. A promoted standby, a restored copy and a restarted server each are another one; `server_timeline` is the same
-- for a restarted one, whose log went on. The timeline comes from the name of the current WAL file: pg_control_checkpoint() names the old
-- one until the first checkpoint after a promotion. Both fail on a standby.
create function server_timeline() returns text language sql stable as $$
  select (select system_identifier from pg_control_system()) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
$$;

create function server_identity() returns text language sql stable as $$
  select server_timeline() || '/' || extract(epoch from pg_postmaster_start_time())
$$;

-- The timeline on which the log's generation began: on another one sequences may be given again. Null: not known yet.
alter table log_state add column timeline text;
