-- Raised by a restore: cursors of the log hold it, and those of another generation have expired.
alter table log_state add column generation bigint not null default 1;
