-- What waits for a place: the oldest of a project are found without the others, however many there are.
create index runs_held on runs (project_id, id) where status = 'queued' and held;
create index builds_waiting on builds (project_id, id) where status = 'queued';
