/** The pages of tasks and automations. */
import type { Visit } from '../browser.ts';
import type { Site } from '../ground.ts';
import { none } from '../scene.ts';
import { press } from '../writes.ts';
import type { Area } from './area.ts';
import { WRITES_OF_AUTOMATIONS } from './work/automation-writes.ts';
import { WRITES_OF_TASKS } from './work/task-writes.ts';

const ISSUE = 'https://github.com/acme/garden/issues/12';

/** What they show. */
export async function workGround({ client }: Site) {
  const project = await client.projects.create({ name: 'Garden' });
  const projectId = project.id;
  const task = await client.tasks.create({
    projectId,
    title: 'The pond loses water at its northern edge',
    trackerIssueUrl: ISSUE,
  });
  const begin = (title: string) =>
    client.threads.createDirect({ projectId, taskId: task.id, title, message: { content: 'Look.' } });
  await begin('Find the leak');
  await begin('Line the edge with clay');
  const titles = ['Dig a pond', 'Prune the roses', 'Order bulbs for the spring', 'Repair the shed'];
  for (const [i, status] of (['in_review', 'done', 'cancelled', null] as const).entries()) {
    const { id } = await client.tasks.create({ projectId, title: titles[i]! });
    if (status) await client.tasks.update(id, { status });
  }
  return { projectId, taskId: task.id, ...(await automations({ client }, projectId)) };
}

/** One at times, with executions, one on events, one by a hook, and one that failures have disabled. */
async function automations({ client }: Pick<Site, 'client'>, projectId: string) {
  const { automation } = await client.automations.create({
    projectId,
    name: 'Watering',
    prompt: 'Water the plants.\n\n```file plants.txt\nfern, watered\n```\n',
    trigger: { kind: 'schedule', cron: '0 6 * * MON-FRI', timeZone: 'Europe/Berlin' },
    monthlyLimitMicros: 20_000_000,
  });
  await client.automations.create({
    projectId,
    name: 'Look at failed runs',
    prompt: 'A run failed in {{event.threadId}}. Find out why.',
    trigger: { kind: 'event', types: ['run.failed'] },
    disabled: true,
  });
  const { automation: hook } = await client.automations.create({
    projectId,
    name: 'Fix errors',
    prompt: 'Find the cause of this error and fix it, with a test.\n\n{{payload}}\n',
    trigger: { kind: 'webhook', source: 'error_tracker', defaults: { organizationSlug: 'acme' } },
    filter: [{ path: 'payload.data.issue.level', op: 'in', value: ['error', 'fatal'] }],
  });
  const { automation: failing } = await client.automations.create({
    projectId,
    name: 'Measure the beds',
    prompt: 'Measure the beds.\n\n```sh\nexit 3\n```\n',
    trigger: { kind: 'schedule', cron: '0 3 1 * *', timeZone: 'UTC' },
    disableAfterFailures: 1,
  });
  await client.automations.run(failing.id).done();
  const execution = await client.automations
    .run(automation.id, { payload: { service: 'shop', version: 7, by: ['ada', 'grace'] } })
    .done();
  return {
    automationId: automation.id,
    executionId: execution.id,
    hookId: hook.id,
    failingId: failing.id,
  };
}

/** The dialog, with the trigger that this label chooses. */
async function newAutomation({ page }: Visit, label?: string): Promise<void> {
  await page.keyboard.press('n');
  if (label !== undefined) await page.locator('label').filter({ hasText: label }).click();
  else await page.getByRole('list', { name: 'Next times' }).waitFor();
}

export const WORK: Area = {
  pages: [
    {
      name: 'tasks',
      path: () => '/console/tasks',
      read: /^GET \/api\/tasks\?/,
      empty: 'service',
    },
    {
      name: 'task',
      path: ({ areas: { work } }) => `/console/tasks/${work.taskId}`,
      read: /^GET \/api\/tasks\/task_/,
      unknown: ({ areas: { work } }) => `/console/tasks/${none(work.taskId)}`,
    },
    {
      name: 'automations',
      path: () => '/console/automations',
      read: /^GET \/api\/automations(\?|$)/,
      empty: 'service',
    },
    {
      name: 'automation',
      path: ({ areas: { work } }) => `/console/automations/${work.automationId}`,
      read: /^GET \/api\/automations\/[^/?]+$/,
      unknown: ({ areas: { work } }) => `/console/automations/${none(work.automationId)}`,
    },
    {
      name: 'execution',
      path: ({ areas: { work } }) =>
        `/console/automations/${work.automationId}?execution=${work.executionId}`,
      read: /^GET \/api\/automations\/[^/]+\/executions\/exe_/,
    },
  ],
  scenes: [
    {
      name: 'task-new',
      path: () => '/console/tasks',
      prepare: ({ page }) => page.keyboard.press('n'),
    },
    {
      name: 'task-status',
      path: () => '/console/tasks',
      prepare: ({ page }) => press(page, 'Set the status of T-2'),
    },
    {
      name: 'task-thread',
      path: ({ areas: { work } }) => `/console/tasks/${work.taskId}`,
      prepare: ({ page }) => page.keyboard.press('n'),
    },
    { name: 'automation-new', path: () => '/console/automations', prepare: newAutomation },
    {
      name: 'automation-new-event',
      path: () => '/console/automations',
      prepare: (visit) => newAutomation(visit, 'On events'),
    },
    {
      name: 'automation-new-hook',
      path: () => '/console/automations',
      prepare: (visit) => newAutomation(visit, 'When another system calls'),
    },
    {
      name: 'automation-failed',
      path: ({ areas: { work } }) => `/console/automations/${work.failingId}`,
    },
    {
      name: 'automation-hook',
      path: ({ areas: { work } }) => `/console/automations/${work.hookId}`,
      prepare: ({ page }) => page.getByText('How another system calls it').click(),
    },
    {
      name: 'automation-run',
      path: ({ areas: { work } }) => `/console/automations/${work.automationId}`,
      prepare: ({ page }) => page.keyboard.press('n'),
    },
  ],
  writes: [...WRITES_OF_TASKS, ...WRITES_OF_AUTOMATIONS],
};
