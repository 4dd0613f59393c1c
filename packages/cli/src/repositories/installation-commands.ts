/** `headrace installations …`, as data. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';
import type { Options } from '../core/options.ts';

const ARG_HELP = { INSTALLATION: 'an id, the first 8 characters of one, or ~NAME' };
const CREDENTIAL = {
  'token-file': {
    type: 'string',
    value: 'FILE',
    help: 'a file with a personal access token, or - for stdin',
    completes: 'file',
  },
  'app-id': { type: 'string', value: 'ID', help: 'of a GitHub App, instead of a token' },
  'installation-id': {
    type: 'string',
    value: 'ID',
    help: 'the last part of the address of its installation',
  },
  'private-key-file': {
    type: 'string',
    value: 'FILE',
    help: 'its private key (PEM), or - for stdin',
    completes: 'file',
  },
  'webhook-secret-file': {
    type: 'string',
    value: 'FILE',
    help: 'a file with the secret that signs deliveries, or - for stdin',
    completes: 'file',
  },
} as const satisfies Options;

export const installationCommands: readonly Command[] = [
  command({
    name: 'installations list',
    group: 'Repositories',
    summary: 'List the connections to source control hosts',
    options: LIST_OPTIONS,
    examples: ['headrace installations list'],
    scope: 'service',
    answer: 'scm.listInstallations',
    run: async (cli, { options }) =>
      (await import('./installations.ts')).listInstallations(cli, options.limit),
  }),
  command({
    name: 'installations show',
    group: 'Repositories',
    summary: 'Show a connection to a source control host',
    args: ['INSTALLATION'],
    argHelp: ARG_HELP,
    examples: ["headrace installations show '~Acme'"],
    scope: 'service',
    answer: 'scm.getInstallation',
    run: async (cli, { args: [name] }) => (await import('./installations.ts')).showInstallation(cli, name),
  }),
  command({
    name: 'installations create',
    group: 'Repositories',
    summary: 'Connect GitHub, by token or as an App',
    details:
      'Secrets come from files or stdin, never from arguments. The service tries the credential first. Without --webhook-secret-file it makes a secret, which is printed once.',
    args: ['NAME'],
    argHelp: { NAME: 'the name' },
    options: {
      'base-url': { type: 'string', value: 'URL', help: 'of GitHub Enterprise: https://HOST/api/v3' },
      ...CREDENTIAL,
    },
    examples: [
      'headrace installations create Acme --token-file - < token.txt',
      'headrace installations create Acme --app-id 123456 --installation-id 98765432 --private-key-file app.pem',
    ],
    scope: 'service',
    writes: true,
    needsSession: true,
    answer: 'scm.createInstallation',
    run: async (cli, { args: [name], options }) =>
      (await import('./installations.ts')).createInstallation(cli, name, options),
  }),
  command({
    name: 'installations update',
    group: 'Repositories',
    summary: 'Change the name or the secrets of a connection',
    args: ['INSTALLATION'],
    argHelp: ARG_HELP,
    options: { name: { type: 'string', value: 'NAME', help: 'the new name' }, ...CREDENTIAL },
    examples: ["headrace installations update '~Acme' --token-file - < token.txt"],
    scope: 'service',
    writes: true,
    needsSession: true,
    answer: 'scm.updateInstallation',
    run: async (cli, { args: [name], options }) =>
      (await import('./installations.ts')).updateInstallation(cli, name, options),
  }),
  command({
    name: 'installations delete',
    group: 'Repositories',
    summary: 'Disconnect a source control host',
    args: ['INSTALLATION'],
    argHelp: ARG_HELP,
    examples: ["headrace installations delete '~Acme' --yes"],
    scope: 'service',
    writes: true,
    needsSession: true,
    answer: 'scm.deleteInstallation',
    run: async (cli, { args: [name] }) => (await import('./installations.ts')).deleteInstallation(cli, name),
  }),
  command({
    name: 'installations sync',
    group: 'Repositories',
    summary: 'Read the repositories of a connection again',
    args: ['INSTALLATION'],
    argHelp: ARG_HELP,
    examples: ["headrace installations sync '~Acme'"],
    scope: 'service',
    writes: true,
    answer: 'scm.syncInstallation',
    run: async (cli, { args: [name] }) => (await import('./installations.ts')).syncInstallation(cli, name),
  }),
];
