import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';

export const appCommands: readonly Command[] = [
  command({
    name: 'apps list',
    group: 'Start',
    summary: 'List apps, newest first',
    options: {
      ...LIST_OPTIONS,
      query: { type: 'string', value: 'TEXT', help: 'only apps whose name contains this' },
      'external-id': { type: 'string', value: 'ID', help: 'only the app with your own id' },
    },
    examples: ['headrace apps list --limit 10'],
    scope: 'service',
    answer: 'projects.listApps',
    run: async (cli, input) => (await import('./apps.ts')).listApps(cli, input.options),
  }),
  command({
    name: 'apps create',
    group: 'Start',
    summary: 'Create an app',
    args: ['NAME'],
    argHelp: { NAME: 'what people call it' },
    options: {
      'external-id': { type: 'string', value: 'ID', help: 'your own id of it; no other app may have it' },
    },
    examples: ['headrace apps create Shop --external-id u_42'],
    scope: 'service',
    writes: true,
    answer: 'projects.createApp',
    run: async (cli, { args: [name], options }) =>
      (await import('./apps.ts')).createApp(cli, name, options['external-id']),
  }),
];
