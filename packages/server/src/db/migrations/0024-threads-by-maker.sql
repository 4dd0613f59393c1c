-- Lists of threads by their creator, a user or service account.
create index threads_created_by on threads (org_id, created_by, id) where deleted_at is null;
