-- Deletions of stored objects that failed: an operator reads them.
create index objects_failing on objects (project_id) where attempts > 0;
