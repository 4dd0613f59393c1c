/** `headrace repos …` and `headrace statuses …`, as data. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';

const ARG_HELP = { REPOSITORY: 'its full name, an id, the first 8 characters of one, ~NAME or @last' };
const OF_COMMIT = { ...ARG_HELP, COMMIT: 'a whole commit id, or a branch' };

const repositories: readonly Command[] = [
  command({
    name: 'repos list',
    group: 'Repositories',
    summary: 'List repositories, by name',
    options: {
      ...LIST_OPTIONS,
      query: { type: 'string', value: 'TEXT', help: 'only those whose name contains this' },
      installation: { type: 'string', value: 'ID', help: 'only those that this installation sees' },
    },
    examples: ['headrace repos list'],
    scope: 'service',
    answer: 'scm.listRepositories',
    run: async (cli, { options }) => (await import('./repos.ts')).listRepositories(cli, options),
  }),
  command({
    name: 'repos show',
    group: 'Repositories',
    summary: 'Show a repository',
    args: ['REPOSITORY'],
    argHelp: ARG_HELP,
    examples: ['headrace repos show site'],
    scope: 'service',
    answer: 'scm.getRepository',
    run: async (cli, { args: [repository] }) => (await import('./repos.ts')).showRepository(cli, repository),
  }),
  command({
    name: 'repos create',
    group: 'Repositories',
    summary: 'Create a repository that the service hosts',
    args: ['NAME'],
    argHelp: { NAME: 'lower-case letters, digits, `.`, `_` and `-`' },
    options: {
      branch: { type: 'string', value: 'BRANCH', help: 'the default branch (main)' },
    },
    examples: ['headrace repos create site'],
    scope: 'service',
    writes: true,
    answer: 'scm.createRepository',
    run: async (cli, { args: [name], options }) =>
      (await import('./repos.ts')).createRepository(cli, name, options.branch),
  }),
  command({
    name: 'repos clone',
    group: 'Repositories',
    summary: 'Clone a repository with git',
    details:
      'git asks headrace for the credential whenever it needs one, also for later pulls and pushes: your key is in no argument and no file of the clone. A repository of another host is cloned with the credentials that your git has for that host.\n\nThe document of --json has `repository` and `path`.',
    args: ['REPOSITORY', '[DIR]'],
    argHelp: { ...ARG_HELP, DIR: 'the new folder (the name of the repository)' },
    argCompletes: { DIR: 'folder' },
    rest: 'GIT-OPTIONS...',
    examples: ['headrace repos clone site', 'headrace repos clone site work -- --depth 1'],
    scope: 'service',
    run: async (cli, { args, rest }) => (await import('./clone.ts')).cloneRepository(cli, args, rest),
  }),
  command({
    name: 'repos credential',
    group: 'Repositories',
    summary: 'Give git the credential, as its credential helper',
    details:
      'git runs this itself in a clone that headrace made. To use it in another one: git config credential.URL.helper "!headrace repos credential --url URL".\n\nThe document of --json has `username` and `password`.',
    args: ['OPERATION'],
    argHelp: { OPERATION: '`get`; any other does nothing' },
    examples: ["printf 'protocol=http\\nhost=127.0.0.1:4400\\n' | headrace repos credential get"],
    scope: 'service',
    run: async (cli, { args: [operation] }) => (await import('./clone.ts')).answerGit(cli, operation),
  }),
  command({
    name: 'repos update',
    group: 'Repositories',
    summary: 'Change a repository that the service hosts',
    args: ['REPOSITORY'],
    argHelp: ARG_HELP,
    options: {
      branch: { type: 'string', value: 'BRANCH', help: 'the default branch' },
      'required-check': {
        type: 'string',
        value: 'CHECK',
        help: 'a check that must succeed before a merge; replaces all',
        multiple: true,
      },
      'no-required-checks': { type: 'boolean', help: 'require no check' },
      'merge-method': {
        type: 'string',
        value: 'METHOD',
        choices: ['merge', 'squash', 'rebase'],
        help: 'an allowed method; replaces all',
        multiple: true,
      },
    },
    examples: ['headrace repos update site --required-check tests --merge-method squash'],
    scope: 'service',
    writes: true,
    answer: 'scm.updateRepository',
    run: async (cli, { args: [repository], options }) =>
      (await import('./repos.ts')).updateRepository(cli, repository, options),
  }),
  command({
    name: 'repos delete',
    group: 'Repositories',
    summary: 'Delete a repository that the service hosts',
    args: ['REPOSITORY'],
    argHelp: ARG_HELP,
    examples: ['headrace repos delete site --yes'],
    scope: 'service',
    writes: true,
    answer: 'scm.deleteRepository',
    run: async (cli, { args: [repository] }) =>
      (await import('./repos.ts')).deleteRepository(cli, repository),
  }),
  command({
    name: 'repos branches',
    group: 'Repositories',
    summary: 'List the branches of a repository',
    args: ['REPOSITORY'],
    argHelp: ARG_HELP,
    options: {
      ...LIST_OPTIONS,
      query: { type: 'string', value: 'TEXT', help: 'only those that begin with this' },
    },
    examples: ['headrace repos branches site'],
    scope: 'service',
    answer: 'scm.listBranches',
    run: async (cli, { args: [repository], options }) =>
      (await import('./repos.ts')).listBranches(cli, repository, options),
  }),
  command({
    name: 'repos inspect',
    group: 'Repositories',
    summary: 'Check whether a project can use a branch',
    args: ['REPOSITORY', '[REF]'],
    argHelp: { ...ARG_HELP, REF: 'a branch or a whole commit id (the default branch)' },
    examples: ['headrace repos inspect site main'],
    scope: 'service',
    answer: 'scm.inspectRepository',
    run: async (cli, { args: [repository, ref] }) =>
      (await import('./repos.ts')).inspectRepository(cli, repository, ref),
  }),
];

const statuses: readonly Command[] = [
  command({
    name: 'statuses list',
    group: 'Repositories',
    summary: 'List what CI reported about a commit',
    args: ['REPOSITORY', 'COMMIT'],
    argHelp: OF_COMMIT,
    options: { ...LIST_OPTIONS, all: { type: 'boolean', help: 'also earlier reports of a check' } },
    examples: ['headrace statuses list site main'],
    scope: 'service',
    answer: 'scm.listStatuses',
    run: async (cli, { args, options }) => (await import('./statuses.ts')).listStatuses(cli, args, options),
  }),
  command({
    name: 'statuses create',
    group: 'Repositories',
    summary: 'Report a check of a commit, as CI does',
    details: 'Only for repositories that the service hosts. The newest report of each check counts.',
    args: ['REPOSITORY', 'COMMIT', 'CHECK', 'STATE'],
    argHelp: {
      ...OF_COMMIT,
      CHECK: 'its name, for example `tests`',
      STATE: 'pending, success, failure or error',
    },
    options: {
      description: { type: 'string', value: 'TEXT', help: 'a line about it' },
      'target-url': { type: 'string', value: 'URL', help: 'where its details are' },
      'log-file': {
        type: 'string',
        value: 'FILE',
        help: 'its log, of which an agent that fixes it reads the end; - is stdin',
        completes: 'file',
      },
    },
    examples: ['headrace statuses create site main tests success'],
    scope: 'service',
    writes: true,
    answer: 'scm.createStatus',
    run: async (cli, { args, options }) => (await import('./statuses.ts')).createStatus(cli, args, options),
  }),
];

export const repoCommands: readonly Command[] = [...repositories, ...statuses];
