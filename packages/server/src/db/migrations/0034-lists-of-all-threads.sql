-- The lists of all threads have those of Direct projects beside those of apps. A page merges ranges of these and of the indexes of apps'
-- threads (0027), so no row is in two of them, and a write costs what it did.
create index threads_direct on threads (org_id, status, id collate "C") where not listed and deleted_at is null;
create index threads_of_direct on threads (project_id, status, id collate "C") where not listed and deleted_at is null;
create index threads_direct_active on threads (org_id, status, updated_at, id collate "C") where not listed and deleted_at is null;
create index threads_of_direct_active on threads (project_id, status, updated_at, id collate "C") where not listed and deleted_at is null;
