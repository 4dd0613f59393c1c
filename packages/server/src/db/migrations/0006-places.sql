-- Which project began a run or a build longest ago: it is the next one where its organization's places are full.
create index runs_started on runs (project_id, started_at);
create index builds_started on builds (project_id, started_at);
-- What is under way, to be counted: few rows, however many wait.
create index runs_under_way on runs (org_id, project_id) where status in ('running', 'waiting');
create index builds_under_way on builds (org_id, project_id) where status = 'building';
