-- What the lists of all apps have: rows of apps that are not deleted. Rows of Direct projects and of deleted apps are not there to be
-- skipped, and a list joins nothing. Each index holds the rows of one status in the order of a list; a page merges the first rows of each.
alter table threads add column listed boolean not null default true;
alter table applies add column listed boolean not null default true;
alter table builds add column listed boolean not null default true;
alter table previews add column listed boolean not null default true;
update threads set listed = false from projects p where p.id = project_id and p.kind = 'direct';
update applies set listed = false from projects p where p.id = project_id and (p.kind = 'direct' or p.deleted_at is not null);
update builds set listed = false from projects p where p.id = project_id and (p.kind = 'direct' or p.deleted_at is not null);
update previews set listed = false from projects p where p.id = project_id and (p.kind = 'direct' or p.deleted_at is not null);

-- Ids are compared by their bytes: the primary keys, which have another collation, cannot give this order. The planner otherwise likes to
-- read them backward for a page of an organization, through all that other organizations made since.
create index threads_listed on threads (org_id, status, id collate "C") where listed and deleted_at is null;
create index threads_listed_of_app on threads (project_id, status, id collate "C") where listed and deleted_at is null;
create index threads_active on threads (org_id, status, updated_at, id collate "C") where listed and deleted_at is null;
create index threads_active_of_app on threads (project_id, status, updated_at, id collate "C") where listed and deleted_at is null;
create index applies_listed on applies (org_id, status, id collate "C") where listed;
create index applies_listed_of_app on applies (project_id, status, id collate "C") where listed;
create index builds_listed on builds (org_id, status, id collate "C") where listed;
create index builds_listed_of_app on builds (project_id, status, id collate "C") where listed;
create index previews_listed on previews (org_id, status, id collate "C") where listed;
create index previews_listed_of_app on previews (project_id, status, id collate "C") where listed;

-- The other lists of threads and projects read in the same order.
drop index threads_project, threads_org, threads_created_by, threads_task, threads_automation, projects_org;
create index threads_project on threads (project_id, id collate "C") where deleted_at is null;
create index threads_org on threads (org_id, id collate "C") where deleted_at is null;
create index threads_created_by on threads (org_id, created_by, id collate "C") where deleted_at is null;
create index threads_task on threads (task_id, id collate "C") where task_id is not null;
create index threads_automation on threads (automation_id, id collate "C") where automation_id is not null;
create index projects_org on projects (org_id, id collate "C") where deleted_at is null;

-- A key's receipts in an organization, of whatever actor. The look-up of one actor's names all three.
drop index operations_key;
create unique index operations_key on operations (org_id, idempotency_key, actor_id);
