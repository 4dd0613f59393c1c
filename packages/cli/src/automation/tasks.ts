/** `headrace tasks …`: what threads work on. */
import type { CreateTaskInput, Task, UpdateTaskInput } from '@headrace/client';
import { bodyOf, requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { idNamed, projectNamed, rememberLast } from '../core/ids.ts';
import type { Resource } from '../core/ids.ts';
import { oneLine } from '../terminal/escape.ts';
import type { Color } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago, dated } from '../terminal/times.ts';

const tasksOf = (cli: Cli): Resource<Task> => ({
  what: 'task',
  prefix: 'task_',
  listing: 'headrace tasks list',
  list: (options) => cli.client.tasks.list(options),
  named: ({ id, identifier, title }) => ({ id, label: `${identifier} ${title}` }),
});
const taskNamed = (cli: Cli, text: string) => idNamed(cli, text, tasksOf(cli));

const COLORS: Readonly<Record<Task['status'], Color>> = {
  open: 'bold',
  in_progress: 'cyan',
  in_review: 'yellow',
  done: 'green',
  cancelled: 'gray',
};
const COLUMNS: readonly Column<Task>[] = [
  { header: 'ID', value: ({ id }) => id, whole: true },
  { header: 'TASK', value: ({ identifier }) => identifier, color: () => 'bold' },
  { header: 'TITLE', value: ({ title }) => title },
  { header: 'STATUS', value: ({ status }) => status, color: ({ status }) => COLORS[status] },
  { header: 'THREADS', value: ({ threadIds }) => threadIds.length, right: true },
  { header: 'CHANGED', value: ({ updatedAt }) => ago(updatedAt) },
];

interface TaskFilters {
  project: string | undefined;
  status: Task['status'] | undefined;
  limit: number | undefined;
}

export async function listTasks(cli: Cli, { project, status, limit }: TaskFilters): Promise<void> {
  const given = {
    ...(project !== undefined && { projectId: await projectNamed(cli, project) }),
    ...(status !== undefined && { status }),
  };
  await cli.list({
    member: 'tasks',
    page: (options) => cli.client.tasks.list({ ...options, ...given }),
    columns: COLUMNS,
    filters: given,
    empty: 'There are no tasks yet. → headrace tasks create TITLE --project PROJECT',
    limit,
  });
}

const textOf = (cli: Cli, task: Task) =>
  cli.details([
    ['ID', task.id],
    ['Task', task.identifier],
    ['Title', task.title],
    ['Status', task.status, COLORS[task.status]],
    ['Issue', task.trackerIssueUrl ?? undefined],
    ['Project', task.projectId],
    ['Threads', task.threadIds.join(' ') || 'none'],
    ['Created', dated(task.createdAt)],
    ['Changed', dated(task.updatedAt)],
  ]);

export async function showTask(cli: Cli, text: string): Promise<void> {
  const task = await cli.client.tasks.get(await taskNamed(cli, text), { signal: cli.signal });
  cli.show({ task }, () => textOf(cli, task));
}

interface NewTask {
  project: string | undefined;
  issue: string | undefined;
  input: string | undefined;
}

export async function createTask(cli: Cli, title: string | undefined, options: NewTask): Promise<void> {
  const body = await bodyOf<CreateTaskInput>(cli, options.input, {
    title,
    projectId: options.project === undefined ? undefined : await projectNamed(cli, options.project),
    trackerIssueUrl: options.issue,
  });
  if (body.title === undefined || body.projectId === undefined)
    throw usage('A task needs a TITLE and --project PROJECT.');
  const task = await cli.write(
    (client) => client.tasks.create(body, { signal: cli.signal }),
    JSON.stringify(body),
  );
  rememberLast(cli, tasksOf(cli), task.id);
  cli.show({ task }, () => textOf(cli, task));
}

interface TaskChange {
  title: string | undefined;
  status: Task['status'] | 'derived' | undefined;
  input: string | undefined;
}

export async function updateTask(cli: Cli, text: string, change: TaskChange): Promise<void> {
  const body = requireChange(
    await bodyOf<UpdateTaskInput>(cli, change.input, {
      title: change.title,
      status: change.status === 'derived' ? null : change.status,
    }),
  );
  const id = await taskNamed(cli, text);
  const task = await cli.write(
    (client) => client.tasks.update(id, body, { signal: cli.signal }),
    JSON.stringify(body),
  );
  cli.show({ task }, () => textOf(cli, task));
}

export async function deleteTask(cli: Cli, text: string): Promise<void> {
  const id = await taskNamed(cli, text);
  await cli.requireYes(() => `Delete the task ${oneLine(text)}? Its threads stay.`);
  const task = await cli.write((client) => client.tasks.delete(id, { signal: cli.signal }));
  cli.show({ task }, () => `Deleted ${oneLine(task.identifier)}.`);
}
