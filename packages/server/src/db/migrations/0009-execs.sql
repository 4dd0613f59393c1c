-- A command in a thread's workspace has its own row; its job carries only the row's id.
create table execs (
  org_id text not null,
  id text primary key,
  project_id text not null references projects,
  thread_id text not null references threads,
  -- The receipt that its job settles, and its task's id at the runner. No reference: receipts are forgotten first.
  operation_id text not null,
  -- Of the request that asked for it; errors name it.
  request_id text not null,
  command text not null,
  -- Removed when the command has ended.
  stdin text,
  timeout_seconds integer not null,
  status text not null check (status in ('queued', 'running', 'completed', 'failed')),
  created_at timestamptz(3) not null default now()
);
create index execs_project on execs (project_id);

-- Commands under way were payloads of their jobs. A command may have two jobs, of which one says that it was started.
insert into execs (org_id, id, project_id, thread_id, operation_id, request_id, command, stdin, timeout_seconds, status, created_at)
select distinct on (o.id) t.org_id, 'exe_' || split_part(o.id, '_', 2), t.project_id, t.id, o.id, j.payload->>'requestId', j.payload->>'command', j.payload->>'stdin',
  (j.payload->>'timeoutSeconds')::integer, case when (j.payload->>'isStarted')::boolean then 'running' else 'queued' end, o.created_at
from jobs j join operations o on o.id = j.payload->>'operationId' join threads t on t.id = j.payload->>'threadId'
where j.kind = 'exec.work' and o.status = 'pending'
order by o.id, coalesce((j.payload->>'isStarted')::boolean, false) desc;
-- What is left are jobs whose receipts are settled: all that they had to do is done.
delete from jobs where kind = 'exec.work' and payload->>'operationId' not in (select operation_id from execs);
update jobs j set payload = jsonb_build_object('execId', e.id) from execs e where j.kind = 'exec.work' and e.operation_id = j.payload->>'operationId';

alter table threads rename column exec_operation_id to active_exec_id;
update threads t set active_exec_id = (select e.id from execs e where e.operation_id = t.active_exec_id) where active_exec_id is not null;
