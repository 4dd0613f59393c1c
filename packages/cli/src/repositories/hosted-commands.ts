/** `headrace pulls …` and `headrace comments …`, as data. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';
import { BODY_OPTIONS, MERGE_OPTIONS, UPDATE_OPTIONS } from './pull-options.ts';

const ARG_HELP = { REPOSITORY: 'one that the service hosts: its name, an id or @last' };
const OF_PULL = { ...ARG_HELP, NUMBER: 'of the pull request' };

const pulls: readonly Command[] = [
  command({
    name: 'pulls list',
    group: 'Repositories',
    summary: 'List the pull requests of a hosted repository',
    args: ['REPOSITORY'],
    argHelp: ARG_HELP,
    options: {
      ...LIST_OPTIONS,
      state: {
        type: 'string',
        value: 'STATE',
        choices: ['open', 'closed', 'merged'],
        help: 'only those in this state',
      },
    },
    examples: ['headrace pulls list site --state open'],
    scope: 'service',
    answer: 'scm.listPullRequests',
    run: async (cli, { args: [repository], options }) =>
      (await import('./pulls.ts')).listPulls(cli, repository, options),
  }),
  command({
    name: 'pulls show',
    group: 'Repositories',
    summary: 'Show a pull request of a hosted repository',
    args: ['REPOSITORY', 'NUMBER'],
    argHelp: OF_PULL,
    examples: ['headrace pulls show site 1'],
    scope: 'service',
    answer: 'scm.getPullRequest',
    run: async (cli, { args }) => (await import('./pulls.ts')).showPull(cli, args),
  }),
  command({
    name: 'pulls create',
    group: 'Repositories',
    summary: 'Open a pull request for a branch that you pushed',
    details: 'For the changes of a thread: headrace pr create.',
    args: ['REPOSITORY', 'BRANCH', 'TITLE'],
    argHelp: { ...ARG_HELP, BRANCH: 'the branch with the changes', TITLE: 'its title' },
    options: {
      base: { type: 'string', value: 'BRANCH', help: 'the branch to merge into (the default branch)' },
      ...BODY_OPTIONS,
      draft: { type: 'boolean', help: 'as a draft' },
    },
    examples: ['headrace pulls create site fix-page "Fix the page"'],
    scope: 'service',
    writes: true,
    answer: 'scm.createPullRequest',
    run: async (cli, { args, options }) => (await import('./pulls.ts')).createPull(cli, args, options),
  }),
  command({
    name: 'pulls update',
    group: 'Repositories',
    summary: 'Change a pull request of a hosted repository',
    args: ['REPOSITORY', 'NUMBER'],
    argHelp: OF_PULL,
    options: UPDATE_OPTIONS,
    examples: ['headrace pulls update site 1 --ready'],
    scope: 'service',
    writes: true,
    answer: 'scm.updatePullRequest',
    run: async (cli, { args, options }) => (await import('./pulls.ts')).updatePull(cli, args, options),
  }),
  command({
    name: 'pulls merge',
    group: 'Repositories',
    summary: 'Merge a pull request of a hosted repository',
    details: 'Asks first; --yes does not. Merges only the commit that it read.',
    args: ['REPOSITORY', 'NUMBER'],
    argHelp: OF_PULL,
    options: MERGE_OPTIONS,
    examples: ['headrace pulls merge site 1 --yes'],
    scope: 'service',
    writes: true,
    answer: 'scm.mergePullRequest',
    run: async (cli, { args, options }) => (await import('./pulls.ts')).mergePull(cli, args, options),
  }),
];

const comments: readonly Command[] = [
  command({
    name: 'comments list',
    group: 'Repositories',
    summary: 'List the comments on a pull request of a hosted repository',
    args: ['REPOSITORY', 'NUMBER'],
    argHelp: OF_PULL,
    examples: ['headrace comments list site 1'],
    scope: 'service',
    answer: 'scm.listComments',
    run: async (cli, { args }) => (await import('./pulls.ts')).listComments(cli, args),
  }),
  command({
    name: 'comments create',
    group: 'Repositories',
    summary: 'Comment on a pull request of a hosted repository',
    details: 'A comment opens a review thread; --reply answers in one.',
    args: ['REPOSITORY', 'NUMBER'],
    argHelp: OF_PULL,
    options: {
      ...BODY_OPTIONS,
      path: { type: 'string', value: 'PATH', help: 'the file that it is about' },
      line: { type: 'number', value: 'N', help: 'the line of the file', min: 1 },
      reply: { type: 'string', value: 'ID', help: 'the comment that opened the review thread' },
    },
    examples: ['headrace comments create site 1 --body "Please add a test." --path a.txt --line 3'],
    scope: 'service',
    writes: true,
    answer: 'scm.createComment',
    run: async (cli, { args, options }) => (await import('./pulls.ts')).createComment(cli, args, options),
  }),
  command({
    name: 'comments resolve',
    group: 'Repositories',
    summary: 'Resolve a review thread, or open it again',
    args: ['REPOSITORY', 'NUMBER', 'COMMENT'],
    argHelp: { ...OF_PULL, COMMENT: 'the id of the comment that opened it' },
    options: { open: { type: 'boolean', help: 'open it again' } },
    examples: ['headrace comments resolve site 1 cmt_01jd5y2q8r3t4v5w6x7y8z9abc'],
    scope: 'service',
    writes: true,
    answer: 'scm.updateComment',
    run: async (cli, { args, options }) =>
      (await import('./pulls.ts')).updateComment(cli, args, options.open),
  }),
];

export const hostedPullRequestCommands: readonly Command[] = [...pulls, ...comments];
