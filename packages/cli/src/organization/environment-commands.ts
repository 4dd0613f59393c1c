/** `headrace env …`, as data. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';

const NAME = 'for example API_URL';
const WHOSE = {
  organization: { type: 'boolean', help: 'the organization’s, which all its apps have' },
  project: { type: 'string', value: 'PROJECT', help: 'those of a Direct project: an id, or ~NAME' },
} as const;
const FIELDS = {
  secret: {
    type: 'boolean',
    help: 'never shown, and masked in what comes out of sandboxes; by default not for runs',
  },
  for: {
    type: 'string',
    multiple: true,
    value: 'TARGET',
    help: 'which sandboxes have it; by default all',
    choices: ['run', 'exec', 'build', 'preview'],
  },
} as const;

export const environmentCommands: readonly Command[] = [
  command({
    name: 'env list',
    group: 'Organization',
    summary: 'List the environment variables of an app, a project or the organization',
    options: {
      ...WHOSE,
      effective: { type: 'boolean', help: 'with the organization’s that the app does not hide' },
      ...LIST_OPTIONS,
    },
    examples: ['headrace env list --organization', "headrace env list --effective --app '~Shop'"],
    scope: 'app',
    answer: 'environment.listAppVariables',
    run: async (cli, { options }) => (await import('./environment.ts')).listVariables(cli, options),
  }),
  command({
    name: 'env get',
    group: 'Organization',
    summary: 'Print the value of an environment variable',
    details: 'A secret is never shown. With --json, the whole variable is printed.',
    args: ['NAME'],
    argHelp: { NAME },
    options: WHOSE,
    examples: ["headrace env get API_URL --app '~Shop'"],
    scope: 'app',
    answer: 'environment.getAppVariable',
    run: async (cli, { args: [name], options }) =>
      (await import('./environment.ts')).getVariable(cli, name, options),
  }),
  command({
    name: 'env set',
    group: 'Organization',
    summary: 'Set an environment variable',
    details:
      'Without VALUE, the value is read from stdin, without the line’s end, or asked for. A secret cannot be given as an argument. Sandboxes that start from now on have it.',
    args: ['NAME', '[VALUE]'],
    argHelp: { NAME, VALUE: 'for a plain variable' },
    options: { ...WHOSE, ...FIELDS },
    examples: [
      "headrace env set API_URL https://api.example.com --app '~Shop'",
      "headrace env set API_TOKEN --secret --for exec --for build --app '~Shop' < token.txt",
    ],
    scope: 'app',
    writes: true,
    answer: 'environment.setAppVariable',
    run: async (cli, { args: [name, value], options }) =>
      (await import('./environment.ts')).setVariable(cli, { name, value }, options),
  }),
  command({
    name: 'env rm',
    group: 'Organization',
    summary: 'Delete an environment variable',
    args: ['NAME'],
    argHelp: { NAME },
    options: WHOSE,
    examples: ["headrace env rm API_URL --app '~Shop' --yes"],
    scope: 'app',
    writes: true,
    answer: 'environment.deleteAppVariable',
    run: async (cli, { args: [name], options }) =>
      (await import('./environment.ts')).removeVariable(cli, name, options),
  }),
  command({
    name: 'env import',
    group: 'Organization',
    summary: 'Set all environment variables of a .env file',
    details:
      'All are set alike, one after the other, up to the first that is refused; variables that the file does not name stay. With --json, `variables` are those that were set.',
    args: ['FILE'],
    argHelp: { FILE: 'with lines NAME=VALUE, or - for stdin' },
    argCompletes: { FILE: 'file' },
    options: { ...WHOSE, ...FIELDS },
    examples: ["headrace env import .env.build --secret --for build --app '~Shop'"],
    scope: 'app',
    writes: true,
    run: async (cli, { args: [file], options }) =>
      (await import('./environment.ts')).importVariables(cli, file, options),
  }),
];
