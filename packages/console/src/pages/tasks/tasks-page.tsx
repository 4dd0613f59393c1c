/** Tasks as a board: what threads work on. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useMay } from '../../api/session.ts';
import { useOffReason } from '../../api/write.ts';
import { tasksQuery } from '../../api/work-queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { useKeys } from '../../ui/keys.ts';
import { notify } from '../../ui/notices.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure } from '../../ui/states.tsx';
import { Column } from './column.tsx';
import { NewTask } from './new-task.tsx';
import { ProjectSelect, useProjectName } from './project-select.tsx';
import { placeOf } from './task-row.tsx';
import { useChangeTask } from './use-change.ts';

const route = getRouteApi('/signed-in/tasks');

export function TasksPage() {
  const { projectId } = route.useSearch();
  const navigate = route.useNavigate();
  const [isMaking, setMaking] = useState(false);
  const mayCreate = useMay('thread:create');
  const mayChange = useMay('thread:update');
  const columns = useColumns(projectId);
  const nameOf = useProjectName();
  const off = useOffReason();
  const moved = useRef<string | null>(null);
  const change = useChangeTask((task) => {
    moved.current = placeOf(task);
  });
  const isReading = columns.some(({ query }) => query.isFetching);
  // As soon as it stands in its new column: who moved it by the keyboard stays at it. One that does not come is let go.
  useEffect(() => {
    const link = moved.current && document.querySelector<HTMLElement>(`[data-task="${moved.current}"]`);
    if (link || !isReading) moved.current = null;
    if (link) link.focus();
  });
  const add = () => setMaking(true);
  useKeys(mayCreate ? [{ keys: 'n', does: 'New task', run: add }] : []);
  const failed = columns.filter(({ query }) => query.error && !query.data);
  const isEmpty = columns.every(({ query }) => query.data?.pages[0]?.items.length === 0);
  return (
    <Page
      title="Tasks"
      actions={
        <>
          <ProjectSelect
            quiet
            all="All projects"
            value={projectId ?? null}
            onChange={(id) => void navigate({ search: id === null ? {} : { projectId: id }, replace: true })}
          />
          {mayCreate && (
            <Button kind="primary" onPress={add}>
              New task
            </Button>
          )}
        </>
      }
    >
      {change.fault && (
        <div className="px-4 pb-3">
          <FaultLine fault={change.fault} />
        </div>
      )}
      {failed[0] && (
        <Failure
          error={failed[0].query.error}
          retry={() => {
            for (const { query } of failed) void query.refetch();
          }}
        />
      )}
      {isEmpty ? (
        <NoTasks projectId={projectId} onNew={mayCreate ? add : null} />
      ) : (
        failed.length < columns.length && (
          <div className="@container grow border-t border-line">
            <div className="grid @min-[900px]:h-full @min-[900px]:grid-cols-5" aria-busy={change.isSending}>
              {columns.map(({ status, query }) => (
                <Column
                  key={status}
                  status={status}
                  query={query}
                  nameOf={projectId === undefined ? nameOf : null}
                  onMove={
                    mayChange
                      ? (task, next) => {
                          if (off) notify(off, 'fail');
                          else change.send({ taskId: task.id, body: { status: next } });
                        }
                      : null
                  }
                />
              ))}
            </div>
          </div>
        )
      )}
      <Dialog title="New task" isOpen={isMaking} onClose={() => setMaking(false)}>
        <NewTask projectId={projectId ?? null} onClose={() => setMaking(false)} />
      </Dialog>
    </Page>
  );
}

/** Each column reads its own pages. */
function useColumns(projectId: string | undefined) {
  const of = projectId === undefined ? {} : { projectId };
  const open = useInfiniteQuery(tasksQuery({ status: 'open', ...of }));
  const inProgress = useInfiniteQuery(tasksQuery({ status: 'in_progress', ...of }));
  const inReview = useInfiniteQuery(tasksQuery({ status: 'in_review', ...of }));
  const done = useInfiniteQuery(tasksQuery({ status: 'done', ...of }));
  const cancelled = useInfiniteQuery(tasksQuery({ status: 'cancelled', ...of }));
  return [
    { status: 'open', query: open },
    { status: 'in_progress', query: inProgress },
    { status: 'in_review', query: inReview },
    { status: 'done', query: done },
    { status: 'cancelled', query: cancelled },
  ] as const;
}

function NoTasks({ projectId, onNew }: { projectId: string | undefined; onNew: (() => void) | null }) {
  return (
    <Empty title={projectId === undefined ? 'No tasks yet' : 'This project has no tasks'}>
      <p>
        A task is something to do, or an issue in a tracker. Several threads can work on it; its status
        follows them until somebody sets it. A thread that names an issue makes its task by itself.
      </p>
      {onNew && (
        <Button onPress={onNew}>{projectId === undefined ? 'Make the first task' : 'New task'}</Button>
      )}
      {projectId !== undefined && (
        <Link to="/tasks" className="link">
          Show the tasks of all projects
        </Link>
      )}
    </Empty>
  );
}
