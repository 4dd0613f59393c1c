/** `headrace projects …`, as data. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';

const ARG_HELP = { PROJECT: 'an id, the first 8 characters of one, ~NAME or @last' };
const FIELDS = {
  branch: { type: 'string', value: 'BRANCH', help: 'the branch that threads start from' },
  metadata: {
    type: 'string',
    value: 'KEY=TEXT',
    help: 'your own data; KEY=@FILE reads a file',
    multiple: true,
  },
} as const;

export const projectCommands: readonly Command[] = [
  command({
    name: 'projects list',
    group: 'Repositories',
    summary: 'List projects, newest first',
    options: {
      ...LIST_OPTIONS,
      repo: { type: 'string', value: 'REPOSITORY', help: 'only those of this repository' },
      kind: {
        type: 'string',
        value: 'KIND',
        choices: ['direct', 'platform'],
        help: 'platform: the apps of your customers',
      },
    },
    examples: ['headrace projects list', 'headrace projects list --repo site'],
    scope: 'service',
    answer: 'projects.listProjects',
    run: async (cli, { options }) => (await import('./projects.ts')).listProjects(cli, options),
  }),
  command({
    name: 'projects show',
    group: 'Repositories',
    summary: 'Show a project',
    args: ['PROJECT'],
    argHelp: ARG_HELP,
    examples: ["headrace projects show '~Garden'"],
    scope: 'service',
    answer: 'projects.getProject',
    run: async (cli, { args: [project] }) => (await import('./projects.ts')).showProject(cli, project),
  }),
  command({
    name: 'projects create',
    group: 'Repositories',
    summary: 'Create a project, for threads that end in pull requests',
    details:
      'A project is bound to a repository for good. Its threads start from a branch, and their changes become pull requests. An app (headrace apps create) has no repository.',
    args: ['NAME'],
    argHelp: { NAME: 'the name' },
    options: {
      repo: { type: 'string', value: 'REPOSITORY', help: 'its repository: a name, an id or @last' },
      ...FIELDS,
    },
    examples: ['headrace projects create Garden --repo site'],
    scope: 'service',
    writes: true,
    answer: 'projects.createProject',
    run: async (cli, { args: [name], options }) =>
      (await import('./projects.ts')).createProject(cli, name, options),
  }),
  command({
    name: 'projects update',
    group: 'Repositories',
    summary: 'Change a project',
    details: '--metadata replaces all metadata.',
    args: ['PROJECT'],
    argHelp: ARG_HELP,
    options: { name: { type: 'string', value: 'NAME', help: 'the new name' }, ...FIELDS },
    examples: ["headrace projects update '~Garden' --branch main"],
    scope: 'service',
    writes: true,
    answer: 'projects.updateProject',
    run: async (cli, { args: [project], options }) =>
      (await import('./projects.ts')).updateProject(cli, project, options),
  }),
  command({
    name: 'projects delete',
    group: 'Repositories',
    summary: 'Delete a project; its repository stays',
    args: ['PROJECT'],
    argHelp: ARG_HELP,
    examples: ["headrace projects delete '~Garden' --yes"],
    scope: 'service',
    writes: true,
    answer: 'projects.deleteProject',
    run: async (cli, { args: [project] }) => (await import('./projects.ts')).deleteProject(cli, project),
  }),
];
