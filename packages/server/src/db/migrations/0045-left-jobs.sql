-- The worker that gave a queued job back as one that only others can do.
alter table jobs add column left_by text;
