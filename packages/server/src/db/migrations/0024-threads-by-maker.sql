-- Lists of the threads that one user or service account made.
create index threads_created_by on threads (org_id, created_by, id) where deleted_at is null;
