import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';

const APP = 'an id, the first 8 characters of one, ~NAME or @last; by default the linked app';

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
    argHelp: { NAME: 'the name' },
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
  command({
    name: 'apps show',
    group: 'Start',
    summary: 'Show an app and its head',
    args: ['[APP]'],
    argHelp: { APP },
    argCompletes: { APP: 'app' },
    examples: ["headrace apps show '~Shop'"],
    scope: 'app',
    answer: 'projects.getApp',
    run: async (cli, { args: [app] }) => (await import('./apps.ts')).showApp(cli, app),
  }),
  command({
    name: 'apps update',
    group: 'Start',
    summary: 'Change the name, your id or the metadata of an app',
    args: ['[APP]'],
    argHelp: { APP },
    argCompletes: { APP: 'app' },
    options: {
      name: { type: 'string', value: 'NAME', help: 'the name' },
      'external-id': { type: 'string', value: 'ID', help: 'your own id of it' },
      'no-external-id': { type: 'boolean', help: 'remove your own id' },
      metadata: { type: 'string', value: 'KEY=TEXT', help: 'set a key of the metadata', multiple: true },
      'no-metadata': { type: 'string', value: 'KEY', help: 'remove a key of the metadata', multiple: true },
    },
    examples: ["headrace apps update '~Shop' --name Store --metadata plan=pro"],
    scope: 'app',
    writes: true,
    answer: 'projects.updateApp',
    run: async (cli, { args: [app], options }) => (await import('./update.ts')).updateApp(cli, app, options),
  }),
  command({
    name: 'apps delete',
    group: 'Start',
    summary: 'Delete an app with all its threads and sources',
    details: 'Asks for the name of the app; --yes deletes without asking.',
    args: ['APP'],
    argHelp: { APP: 'an id, the first 8 characters of one, ~NAME or @last' },
    argCompletes: { APP: 'app' },
    examples: ["headrace apps delete '~Shop' --yes"],
    scope: 'service',
    writes: true,
    answer: 'projects.deleteApp',
    run: async (cli, { args: [app] }) => (await import('./apps.ts')).deleteApp(cli, app),
  }),
];
