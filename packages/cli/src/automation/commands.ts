import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { INPUT_OPTION, LIST_OPTIONS } from '../core/options.ts';
import { taskCommands } from './task-commands.ts';

const AUTOMATION = 'an id, the first 8 characters of one, ~NAME or @last';
const PROJECT = {
  type: 'string',
  value: 'PROJECT',
  help: 'the project: an id, the first 8 characters of one, or ~NAME',
} as const;
const TIME_ZONE = {
  type: 'string',
  value: 'ZONE',
  help: 'the time zone of the schedule, such as Europe/Berlin (UTC)',
} as const;
const FIELDS = {
  prompt: { type: 'string', value: 'TEXT', help: 'the first message of each thread' },
  'prompt-file': {
    type: 'string',
    value: 'FILE',
    help: 'the same from a file, or from - for stdin',
    completes: 'file',
  },
  cron: { type: 'string', value: 'CRON', help: 'start at these times, such as "0 6 * * MON-FRI" or @daily' },
  'time-zone': TIME_ZONE,
  on: {
    type: 'string',
    multiple: true,
    value: 'TYPE',
    help: 'start at events of this type, such as run.failed',
  },
  hook: {
    type: 'string',
    value: 'SOURCE',
    help: 'start when another system calls',
    choices: ['generic', 'error_tracker', 'tracker'],
  },
  'hook-secret-file': {
    type: 'string',
    value: 'FILE',
    help: 'the secret that the other system made, from a file or - for stdin',
    completes: 'file',
  },
  model: { type: 'string', value: 'MODEL', help: 'the model of its threads, of `headrace models`' },
  'base-branch': { type: 'string', value: 'BRANCH', help: 'the branch that its threads start from' },
  'pull-request': {
    type: 'string',
    value: 'KIND',
    help: 'what a run with changes opens; by default none',
    choices: ['none', 'draft', 'open'],
  },
  overlap: {
    type: 'string',
    value: 'RULE',
    help: 'what to do while another execution is open; by default skip',
    choices: ['skip', 'queue', 'allow'],
  },
  'spend-limit': { type: 'number', value: 'USD', help: 'what a thread may cost' },
  'monthly-limit': { type: 'number', value: 'USD', help: 'what all its threads of a month may cost' },
  'disable-after': {
    type: 'number',
    value: 'N',
    help: 'disable it after so many failures in a row (5)',
    min: 1,
  },
  'no-catch-up': { type: 'boolean', help: 'skip times that were missed while the service was down' },
  ...INPUT_OPTION,
} as const;
const WAIT = {
  type: 'boolean',
  help: 'wait for its end; exit code 1 if it failed, 7 if it was skipped',
} as const;
const TIMEOUT = { type: 'duration', help: 'how long to wait (15m)' } as const;

const definitionCommands: readonly Command[] = [
  command({
    name: 'automations list',
    group: 'Automation',
    summary: 'List automations, newest first',
    options: { project: { ...PROJECT, help: 'only those of this project' }, ...LIST_OPTIONS },
    examples: ["headrace automations list --project '~Garden'"],
    scope: 'service',
    answer: 'automations.listAutomations',
    run: async (cli, { options }) => (await import('./automations.ts')).listAutomations(cli, options),
  }),
  command({
    name: 'automations show',
    group: 'Automation',
    summary: 'Show an automation: when it starts, and what it does',
    args: ['AUTOMATION'],
    argHelp: { AUTOMATION },
    examples: ["headrace automations show '~Watering'"],
    scope: 'service',
    answer: 'automations.getAutomation',
    run: async (cli, { args: [automation] }) =>
      (await import('./automations.ts')).showAutomation(cli, automation),
  }),
  command({
    name: 'automations create',
    group: 'Automation',
    summary: 'Create an automation: threads that start by themselves',
    details:
      'It starts by a schedule (--cron), by events (--on), or by calls of another system (--hook). The secret of a hook is printed once, alone on stdout. Filters and other fields are given by --input.',
    args: ['[NAME]'],
    argHelp: { NAME: 'also the title of its threads' },
    options: { project: PROJECT, ...FIELDS, disabled: { type: 'boolean', help: 'create it disabled' } },
    examples: [
      'headrace automations create Deployed --project \'~Garden\' --hook generic --prompt "{{payload.service}} was deployed." > hook.secret',
      'headrace automations create Look --project \'~Garden\' --on run.failed --prompt "A run failed in {{event.threadId}}."',
      'headrace automations create Watering --project \'~Garden\' --cron "0 6 * * MON-FRI" --time-zone Europe/Berlin --prompt "Water the plants."',
    ],
    scope: 'service',
    writes: true,
    answer: 'automations.createAutomation',
    run: async (cli, { args: [name], options }) =>
      (await import('./automations.ts')).createAutomation(cli, name, options),
  }),
  command({
    name: 'automations update',
    group: 'Automation',
    summary: 'Change an automation',
    details: 'A limit is removed by --input, with null.',
    args: ['AUTOMATION'],
    argHelp: { AUTOMATION },
    options: { name: { type: 'string', value: 'NAME', help: 'the name' }, ...FIELDS },
    examples: ["headrace automations update '~Watering' --cron @daily --overlap queue"],
    scope: 'service',
    writes: true,
    answer: 'automations.updateAutomation',
    run: async (cli, { args: [automation], options }) =>
      (await import('./automations.ts')).updateAutomation(cli, automation, options),
  }),
  command({
    name: 'automations delete',
    group: 'Automation',
    summary: 'Delete an automation; its threads stay',
    args: ['AUTOMATION'],
    argHelp: { AUTOMATION },
    examples: ["headrace automations delete '~Watering'"],
    scope: 'service',
    writes: true,
    answer: 'automations.deleteAutomation',
    run: async (cli, { args: [automation] }) =>
      (await import('./automations.ts')).deleteAutomation(cli, automation),
  }),
  ...(['enable', 'disable'] as const).map((verb) =>
    command({
      name: `automations ${verb}`,
      group: 'Automation',
      summary: verb === 'enable' ? 'Let an automation start again' : 'Let an automation start only by hand',
      args: ['AUTOMATION'],
      argHelp: { AUTOMATION },
      examples: [`headrace automations ${verb} '~Watering'`],
      scope: 'service',
      writes: true,
      answer: 'automations.updateAutomation',
      run: async (cli, { args: [automation] }) =>
        (await import('./automations.ts')).setDisabled(cli, automation, verb === 'disable'),
    }),
  ),
  command({
    name: 'automations rotate-secret',
    group: 'Automation',
    summary: 'Replace the secret of a hook',
    details:
      'The new secret is printed once, alone on stdout. The former one stays valid for a day, or for --overlap.',
    args: ['AUTOMATION'],
    argHelp: { AUTOMATION },
    options: {
      overlap: { type: 'duration', help: 'how long the former secret stays valid (1d); 0s if it has leaked' },
    },
    examples: ["headrace automations rotate-secret '~Deployed' --overlap 1h > hook.secret"],
    scope: 'service',
    writes: true,
    answer: 'automations.rotateSecret',
    run: async (cli, { args: [automation], options }) =>
      (await import('./automations.ts')).rotateHookSecret(cli, automation, options.overlap),
  }),
  command({
    name: 'automations preview-schedule',
    group: 'Automation',
    summary: 'Show the next times of a schedule',
    args: ['CRON'],
    argHelp: { CRON: 'five fields, or @hourly to @yearly' },
    options: {
      'time-zone': TIME_ZONE,
      from: { type: 'string', value: 'TIME', help: 'the times after this one, instead of now' },
      count: { type: 'number', value: 'N', help: 'how many', min: 1 },
    },
    examples: ['headrace automations preview-schedule "30 2 * * *" --time-zone Europe/Berlin --count 3'],
    scope: 'service',
    answer: 'automations.previewSchedule',
    run: async (cli, { args: [cron], options }) =>
      (await import('./automations.ts')).previewSchedule(cli, cron, options),
  }),
];

const executionCommands: readonly Command[] = [
  command({
    name: 'automations run',
    group: 'Automation',
    summary: 'Run an automation now, also while it is disabled',
    args: ['AUTOMATION'],
    argHelp: { AUTOMATION },
    options: {
      payload: {
        type: 'string',
        value: 'FILE',
        help: 'the JSON to use as the body of a hook, from a file or - for stdin',
        completes: 'file',
      },
      wait: WAIT,
      timeout: TIMEOUT,
    },
    examples: [
      "headrace automations run '~Deployed' --payload deploy.json",
      "headrace automations run '~Watering' --wait",
    ],
    scope: 'service',
    writes: true,
    answer: 'automations.runAutomation',
    run: async (cli, { args: [automation], options }) =>
      (await import('./executions.ts')).runAutomation(cli, automation, options),
  }),
  command({
    name: 'automations executions',
    group: 'Automation',
    summary: 'List the executions of an automation, newest first',
    args: ['AUTOMATION'],
    argHelp: { AUTOMATION },
    options: {
      status: {
        type: 'string',
        value: 'STATUS',
        help: 'only these',
        choices: ['queued', 'running', 'completed', 'failed', 'cancelled', 'skipped'],
      },
      ...LIST_OPTIONS,
    },
    examples: ["headrace automations executions '~Watering' --status failed"],
    scope: 'service',
    answer: 'automations.listExecutions',
    run: async (cli, { args: [automation], options }) =>
      (await import('./executions.ts')).listExecutions(cli, automation, options),
  }),
  command({
    name: 'automations execution',
    group: 'Automation',
    summary: 'Show an execution, or wait for its end',
    args: ['AUTOMATION', 'EXECUTION'],
    argHelp: { AUTOMATION, EXECUTION: 'an id, or the first 8 characters of one' },
    options: { wait: WAIT, timeout: TIMEOUT },
    examples: ["headrace automations execution '~Watering' exe_01jd8x3q5tfz6r7k9m2n4p6s8v --wait"],
    scope: 'service',
    answer: 'automations.getExecution',
    run: async (cli, { args: [automation, execution], options }) =>
      (await import('./executions.ts')).showExecution(cli, automation, execution, options),
  }),
];

export const automationCommands: readonly Command[] = [
  ...definitionCommands,
  ...executionCommands,
  ...taskCommands,
];
