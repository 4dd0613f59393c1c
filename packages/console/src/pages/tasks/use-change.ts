import type { Task, UpdateTaskInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { useWrite } from '../../api/write.ts';
import { notify } from '../../ui/notices.tsx';
import { wordOf } from './words.ts';

/** Reads again what shows tasks. */
export const readTasksAgain = (queries: QueryClient, taskId?: string): Promise<unknown> =>
  Promise.all([
    queries.invalidateQueries({ queryKey: ['tasks'] }),
    ...(taskId === undefined ? [] : [queries.invalidateQueries({ queryKey: ['task', taskId] })]),
  ]);

interface Change {
  /** Only this: what else a task says changes, and a repetition would be another write. */
  taskId: string;
  body: UpdateTaskInput;
}

/** Sets the title or the status of a task; the status null lets it follow its threads. */
export function useChangeTask(onDone?: (task: Task) => void) {
  const queries = useQueryClient();
  return useWrite({
    intent: 'change task',
    call: ({ taskId, body }: Change, options) => client.tasks.update(taskId, body, options),
    onDone: (task, { body }) => {
      notify(said(task, body));
      onDone?.(task);
      void readTasksAgain(queries, task.id);
    },
  });
}

function said({ identifier, status }: Task, body: UpdateTaskInput): string {
  if (body.status === undefined) return `${identifier} has its new title.`;
  return body.status === null
    ? `${identifier} follows its threads: it is ${wordOf(status)}.`
    : `${identifier} is set to ${wordOf(status)}.`;
}
