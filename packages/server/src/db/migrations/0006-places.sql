-- Which project began a run or a build longest ago: it is the next one where its organization's places are full.
create index runs_started on runs (project_id, started_at);
create index builds_started on builds (project_id, started_at);
