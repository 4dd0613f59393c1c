/** `headrace tasks …`, as data. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { INPUT_OPTION, LIST_OPTIONS } from '../core/options.ts';

const TASK = 'an id, the first 8 characters of one, ~TITLE or @last';
const PROJECT = {
  type: 'string',
  value: 'PROJECT',
  help: 'the project: an id, the first 8 characters of one, or ~NAME',
} as const;
const STATUSES = ['open', 'in_progress', 'in_review', 'done', 'cancelled'] as const;

export const taskCommands: readonly Command[] = [
  command({
    name: 'tasks list',
    group: 'Automation',
    summary: 'List tasks, newest first',
    options: {
      project: { ...PROJECT, help: 'only those of this project' },
      status: { type: 'string', value: 'STATUS', help: 'only these', choices: STATUSES },
      ...LIST_OPTIONS,
    },
    examples: ["headrace tasks list --project '~Garden' --status in_progress"],
    scope: 'service',
    answer: 'tasks.listTasks',
    run: async (cli, { options }) => (await import('./tasks.ts')).listTasks(cli, options),
  }),
  command({
    name: 'tasks show',
    group: 'Automation',
    summary: 'Show a task with its threads',
    args: ['TASK'],
    argHelp: { TASK },
    examples: ["headrace tasks show '~pond'"],
    scope: 'service',
    answer: 'tasks.getTask',
    run: async (cli, { args: [task] }) => (await import('./tasks.ts')).showTask(cli, task),
  }),
  command({
    name: 'tasks create',
    group: 'Automation',
    summary: 'Create a task that threads can work on',
    args: ['[TITLE]'],
    argHelp: { TITLE: 'the title' },
    options: {
      project: PROJECT,
      issue: { type: 'string', value: 'URL', help: 'its issue in a tracker' },
      ...INPUT_OPTION,
    },
    examples: ['headrace tasks create "Dig a pond" --project \'~Garden\''],
    scope: 'service',
    writes: true,
    answer: 'tasks.createTask',
    run: async (cli, { args: [title], options }) =>
      (await import('./tasks.ts')).createTask(cli, title, options),
  }),
  command({
    name: 'tasks update',
    group: 'Automation',
    summary: 'Change the title or status of a task',
    args: ['TASK'],
    argHelp: { TASK },
    options: {
      title: { type: 'string', value: 'TITLE', help: 'the title' },
      status: {
        type: 'string',
        value: 'STATUS',
        help: 'its status from now on; derived: by its threads',
        choices: [...STATUSES, 'derived'],
      },
      ...INPUT_OPTION,
    },
    examples: ["headrace tasks update '~pond' --status done"],
    scope: 'service',
    writes: true,
    answer: 'tasks.updateTask',
    run: async (cli, { args: [task], options }) =>
      (await import('./tasks.ts')).updateTask(cli, task, options),
  }),
  command({
    name: 'tasks delete',
    group: 'Automation',
    summary: 'Delete a task; its threads stay',
    args: ['TASK'],
    argHelp: { TASK },
    examples: ["headrace tasks delete '~pond'"],
    scope: 'service',
    writes: true,
    answer: 'tasks.deleteTask',
    run: async (cli, { args: [task] }) => (await import('./tasks.ts')).deleteTask(cli, task),
  }),
];
