/** What the pages of tasks and automations read, and which events change it. */
import type { Execution, Task } from '@headrace/client';
import { client } from './client.ts';
import { many, one } from './query.ts';

/** A task's status may follow from its threads and their pull requests; a task without threads has no events. */
const TASKS = ['thread.', 'pull_request.'];
const AUTOMATIONS = ['automation.'];

export const tasksQuery = (filter: { status: Task['status']; projectId?: string }) => ({
  ...many(['tasks', filter], { types: TASKS }, (options) => client.tasks.list({ ...options, ...filter })),
  staleTime: 0,
});

export const taskQuery = (taskId: string) => ({
  ...one(['task', taskId], { types: TASKS }, (options) => client.tasks.get(taskId, options)),
  staleTime: 0,
});

export const taskThreadsQuery = (taskId: string) => ({
  ...many(['task', taskId, 'threads'], { types: TASKS }, (options) =>
    client.threads.listDirect({ ...options, taskId }),
  ),
  staleTime: 0,
});

export const automationsQuery = (filter: { projectId?: string } = {}) => ({
  ...many(['automations', filter], { types: AUTOMATIONS }, (options) =>
    client.automations.list({ ...options, ...filter }),
  ),
  staleTime: 0,
});

export const automationQuery = (automationId: string) => ({
  ...one(['automation', automationId], { types: AUTOMATIONS }, (options) =>
    client.automations.get(automationId, options),
  ),
  staleTime: 0,
});

export const executionsQuery = (automationId: string, filter: { status?: Execution['status'] } = {}) => ({
  ...many(['automation', automationId, 'executions', filter], { types: AUTOMATIONS }, (options) =>
    client.automations.executions(automationId, { ...options, ...filter }),
  ),
  staleTime: 0,
});

/** With its payload. */
export const executionQuery = (automationId: string, executionId: string) =>
  one(
    ['automation', automationId, 'execution', executionId],
    { types: AUTOMATIONS, ids: [executionId] },
    (options) => client.automations.execution(automationId, executionId, options),
  );

const NEXT_TIMES = 5;

/** The next times of a schedule. `since`: what they follow, where they are read again as it changes. */
export const scheduleQuery = (cron: string, timeZone: string, since: string | null = null) => ({
  ...one(['schedule', cron, timeZone, since], null, (options) =>
    client.automations.previewSchedule({ ...options, cron, timeZone, count: NEXT_TIMES }),
  ),
  staleTime: 0,
  retry: false,
});
