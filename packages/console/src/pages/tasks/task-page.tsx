import type { Task } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { appQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason } from '../../api/write.ts';
import { taskQuery, taskThreadsQuery } from '../../api/work-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Menu } from '../../ui/menu.tsx';
import { notify } from '../../ui/notices.tsx';
import { OutsideLink } from '../../ui/outside-link.tsx';
import { Fact, Facts, Page, Section } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Id, Time } from '../../ui/values.tsx';
import { NewThreadForm, newThreadTitle } from '../race/new-thread.tsx';
import { useProjectName } from './project-select.tsx';
import { StatusMenu } from './status-menu.tsx';
import { DeleteTask, RenameTask } from './task-dialogs.tsx';
import { ThreadRow } from './thread-row.tsx';
import { useChangeTask } from './use-change.ts';
import { lookOf } from './words.ts';

const route = getRouteApi('/signed-in/tasks/$taskId');

/** A task: its facts, and the threads that work on it. */
export function TaskPage() {
  const { taskId } = route.useParams();
  const task = useQuery(taskQuery(taskId));
  const [over, setOver] = useState<'rename' | 'delete' | 'thread' | null>(null);
  const mayStart = useMay('thread:create');
  const close = () => setOver(null);
  const start = () => setOver('thread');
  const { data } = task;
  const project = useQuery({ ...appQuery(data?.projectId ?? ''), enabled: data !== undefined });
  useKeys(data && mayStart ? [{ keys: 'n', does: 'Start a thread', run: start }] : []);
  return (
    <Page
      title={data?.identifier ?? 'Task'}
      heading={
        data && (
          <span className="flex flex-wrap items-baseline gap-x-3">
            <span className="font-mono text-15 font-normal text-ink-2">
              <Plain text={data.identifier} />
            </span>
            <span className="long">
              <Plain text={data.title} />
            </span>
          </span>
        )
      }
      actions={data && <Actions task={data} onStart={mayStart ? start : null} onAsk={setOver} />}
    >
      <Shown query={task}>
        {(shown) => (
          <>
            <About task={shown} />
            <Threads task={shown} onStart={mayStart ? start : null} />
            <Dialog title={`Rename ${shown.identifier}`} isOpen={over === 'rename'} onClose={close}>
              <RenameTask task={shown} onClose={close} />
            </Dialog>
            <Dialog title={`Delete ${shown.identifier}`} isOpen={over === 'delete'} onClose={close}>
              <DeleteTask task={shown} onClose={close} />
            </Dialog>
            <Dialog title={newThreadTitle(shown)} isOpen={over === 'thread'} onClose={close}>
              <Shown query={project}>
                {(app) => <NewThreadForm app={app} task={shown} onClose={close} />}
              </Shown>
            </Dialog>
          </>
        )}
      </Shown>
    </Page>
  );
}

function Actions({
  task,
  onStart,
  onAsk,
}: {
  task: Task;
  onStart: (() => void) | null;
  onAsk: (what: 'rename' | 'delete') => void;
}) {
  const mayChange = useMay('thread:update');
  const mayDelete = useMay('thread:delete');
  const off = useOffReason();
  const change = useChangeTask();
  const body = { status: 'done' };
  return (
    <>
      <FaultLine fault={change.fault} />
      {mayChange && (
        <>
          <AsCode
            method="PATCH"
            path={`/api/tasks/${task.id}`}
            body={body}
            ts={`// null: it follows its threads.\nawait client.tasks.update('${task.id}', ${JSON.stringify(body)});`}
            cli={`headrace tasks update ${task.id} --status done\nheadrace tasks update ${task.id} --status derived`}
          />
          <StatusMenu
            task={task}
            kind="plain"
            onSet={(status) =>
              off ? notify(off, 'fail') : change.send({ taskId: task.id, body: { status } })
            }
          />
        </>
      )}
      {onStart && (
        <Button kind="primary" onPress={onStart}>
          Start a thread
        </Button>
      )}
      {(mayChange || mayDelete) && (
        <Menu
          label="More about this task"
          icon={<Ellipsis size={14} />}
          items={[
            ...(mayChange ? [{ id: 'rename', text: 'Rename', onAction: () => onAsk('rename') }] : []),
            ...(mayDelete
              ? [{ id: 'delete', text: 'Delete', isDanger: true, onAction: () => onAsk('delete') }]
              : []),
          ]}
        />
      )}
    </>
  );
}

function About({ task }: { task: Task }) {
  const { id, projectId, status, trackerIssueUrl, createdAt, updatedAt } = task;
  const nameOf = useProjectName();
  return (
    <Facts>
      <Fact name="Status">
        <Status {...lookOf(status)} />
      </Fact>
      <Fact name="Project">
        <Link to="/apps/$appId" params={{ appId: projectId }} className="link long">
          <Plain text={nameOf(projectId)} />
        </Link>
        <Link to="/tasks" search={{ projectId }} className="link">
          its tasks
        </Link>
      </Fact>
      <Fact name="Issue">
        {trackerIssueUrl === null ? (
          <span className="text-ink-3">none</span>
        ) : (
          <span className="long">
            <OutsideLink href={trackerIssueUrl} text={trackerIssueUrl} />
          </span>
        )}
      </Fact>
      <Fact name="Created">
        <Time at={createdAt} />
      </Fact>
      <Fact name="Changed">
        <Time at={updatedAt} />
      </Fact>
      <Fact name="Id">
        <Id value={id} />
      </Fact>
    </Facts>
  );
}

function Threads({ task, onStart }: { task: Task; onStart: (() => void) | null }) {
  const threads = useInfiniteQuery(taskThreadsQuery(task.id));
  return (
    <Section title="Threads">
      <Shown query={threads}>
        {(data) => {
          const items = itemsOf(data);
          if (items.length === 0)
            return (
              <Empty title="No thread works on it yet">
                <p>A thread that you start here belongs to the task, and the task’s status follows it.</p>
                {onStart && <Button onPress={onStart}>Start a thread</Button>}
              </Empty>
            );
          return (
            <>
              <ul aria-label="Threads" className="border-t border-line">
                {items.map((thread) => (
                  <ThreadRow key={thread.id} thread={thread} taskId={task.id} />
                ))}
              </ul>
              <ShowMore list={threads} />
            </>
          );
        }}
      </Shown>
    </Section>
  );
}
