-- The recovery source with the work of a run whose sandbox was lost: the next message goes on from it, while the latest source is the
-- one that the lost run had begun from.
alter table threads add column lost_work_source_id text;
