/** `headrace pr …`, as data. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';
import type { Options } from '../core/options.ts';
import { BODY_OPTIONS, MERGE_OPTIONS, UPDATE_OPTIONS } from './pull-options.ts';

const THREAD = {
  thread: { type: 'string', short: 't', value: 'THREAD', help: 'its thread (@last)', completes: 'thread' },
} as const satisfies Options;
const ARGS = ['[PR]'] as const;
const ARG_HELP = { PR: 'its number or id; the open one of the thread, else its newest, when omitted' };

const reads: readonly Command[] = [
  command({
    name: 'pr list',
    group: 'Repositories',
    summary: 'List the pull requests of a thread',
    options: { ...LIST_OPTIONS, ...THREAD },
    examples: ['headrace pr list', "headrace pr list --thread '~Plants'"],
    scope: 'service',
    answer: 'pullRequests.listPullRequests',
    run: async (cli, { options }) => (await import('./pull-requests.ts')).listPullRequests(cli, options),
  }),
  command({
    name: 'pr show',
    group: 'Repositories',
    summary: 'Show a pull request, and what it waits for',
    args: ARGS,
    argHelp: ARG_HELP,
    options: THREAD,
    examples: ['headrace pr show', "headrace pr show 12 --thread '~Plants'"],
    scope: 'service',
    answer: 'pullRequests.getPullRequest',
    run: async (cli, { args: [text], options: { thread } }) =>
      (await import('./pull-requests.ts')).showPullRequest(cli, { text, thread }),
  }),
  command({
    name: 'pr checks',
    group: 'Repositories',
    summary: 'Show the checks of a pull request',
    details:
      'Exits with 1 while a check fails. Each check is listed for repositories that the service hosts; another host shows its own.\n\nThe document of --json has `pullRequest`, and `statuses` or null.',
    args: ARGS,
    argHelp: ARG_HELP,
    options: THREAD,
    examples: ['headrace pr checks', "headrace pr checks --thread '~Plants'"],
    scope: 'service',
    run: async (cli, { args: [text], options: { thread } }) =>
      (await import('./pull-requests.ts')).showChecks(cli, { text, thread }),
  }),
  command({
    name: 'pr comments',
    group: 'Repositories',
    summary: 'Show the comments on a pull request',
    details: 'For repositories that the service hosts; another host shows its own.',
    args: ARGS,
    argHelp: ARG_HELP,
    options: THREAD,
    examples: ['headrace pr comments', "headrace pr comments --thread '~Plants'"],
    scope: 'service',
    answer: 'scm.listComments',
    run: async (cli, { args: [text], options: { thread } }) =>
      (await import('./pull-requests.ts')).listPullRequestComments(cli, { text, thread }),
  }),
  command({
    name: 'pr watch',
    group: 'Repositories',
    summary: 'Follow a pull request until it is merged, closed, ready or blocked',
    details:
      'Prints a line whenever the state changes. Ctrl-C detaches. Exits with 0 for merged and ready, 1 for closed and blocked, 6 for blocked by a conflict or a refusal, 124 after --timeout.',
    args: ARGS,
    argHelp: ARG_HELP,
    options: { ...THREAD, timeout: { type: 'duration', value: 'TIME', help: 'how long to wait' } },
    examples: ['headrace pr watch', "headrace pr watch --thread '~Plants' --timeout 30m"],
    scope: 'service',
    answer: 'pullRequests.getPullRequest',
    run: async (cli, { args: [text], options: { thread, timeout } }) =>
      (await import('./watch.ts')).watchPullRequest(cli, { text, thread }, timeout),
  }),
];

const writes: readonly Command[] = [
  command({
    name: 'pr create',
    group: 'Repositories',
    summary: 'Open a pull request with the changes of a thread',
    details:
      'Title and text are the thread’s own unless they are given. Newer changes of the thread are pushed to the pull request until it is merged or closed.',
    options: {
      ...THREAD,
      title: { type: 'string', value: 'TITLE', help: 'the title' },
      ...BODY_OPTIONS,
      base: { type: 'string', value: 'BRANCH', help: 'the branch to merge into' },
      draft: { type: 'boolean', help: 'as a draft' },
      adopt: { type: 'number', value: 'NUMBER', help: 'take over this open one instead', min: 1 },
      loop: { type: 'boolean', help: 'have the review loop drive it to green' },
      'auto-merge': { type: 'boolean', help: 'have the review loop also merge it' },
      'comment-on-issue': { type: 'boolean', help: 'name it in a comment on the issue of the thread' },
    },
    examples: ['headrace pr create', "headrace pr create --thread '~Plants' --loop"],
    scope: 'service',
    writes: true,
    answer: 'pullRequests.createPullRequest',
    run: async (cli, { options }) => (await import('./pull-requests.ts')).createPullRequest(cli, options),
  }),
  command({
    name: 'pr update',
    group: 'Repositories',
    summary: 'Change a pull request, close it or open it again',
    args: ARGS,
    argHelp: ARG_HELP,
    options: {
      ...THREAD,
      ...UPDATE_OPTIONS,
      'auto-push': {
        type: 'string',
        value: 'on|off',
        choices: ['on', 'off'],
        help: 'whether newer changes of the thread are pushed',
      },
    },
    examples: [
      'headrace pr update --ready',
      'headrace pr update --thread \'~Plants\' --title "Water all plants"',
    ],
    scope: 'service',
    writes: true,
    answer: 'pullRequests.updatePullRequest',
    run: async (cli, { args: [text], options: { thread, ...changes } }) =>
      (await import('./pull-requests.ts')).updatePullRequest(cli, { text, thread }, changes),
  }),
  command({
    name: 'pr sync',
    group: 'Repositories',
    summary: 'Push the newest changes, and read the host now',
    details:
      '--take ends a divergence: `branch` takes the files of the branch into the thread, `thread` commits those of the thread on the branch.',
    args: ARGS,
    argHelp: ARG_HELP,
    options: {
      ...THREAD,
      take: {
        type: 'string',
        value: 'SIDE',
        choices: ['branch', 'thread'],
        help: 'the side whose files win after a divergence',
      },
    },
    examples: ['headrace pr sync', "headrace pr sync --thread '~Plants' --take branch"],
    scope: 'service',
    writes: true,
    answer: 'pullRequests.syncPullRequest',
    run: async (cli, { args: [text], options: { thread, take } }) =>
      (await import('./pull-requests.ts')).syncPullRequest(cli, { text, thread }, take),
  }),
  command({
    name: 'pr update-branch',
    group: 'Repositories',
    summary: 'Merge the base branch into a pull request',
    args: ARGS,
    argHelp: ARG_HELP,
    options: { ...THREAD, manual: { type: 'boolean', help: 'stop at conflicts; no agent resolves them' } },
    examples: ['headrace pr update-branch', "headrace pr update-branch --thread '~Plants' --manual"],
    scope: 'service',
    writes: true,
    answer: 'pullRequests.updateBranch',
    run: async (cli, { args: [text], options: { thread, manual } }) =>
      (await import('./pull-requests.ts')).updateBranch(cli, { text, thread }, manual),
  }),
  command({
    name: 'pr merge',
    group: 'Repositories',
    summary: 'Merge a pull request',
    details:
      'Asks first; --yes does not. Merges only the commit that it read: a branch that moves in between is refused. Exits with 6 when the host refuses, for example because of a conflict or a failing check.',
    args: ARGS,
    argHelp: ARG_HELP,
    options: { ...THREAD, ...MERGE_OPTIONS },
    examples: ['headrace pr merge', "headrace pr merge --thread '~Plants' --method squash --yes"],
    scope: 'service',
    writes: true,
    answer: 'pullRequests.mergePullRequest',
    run: async (cli, { args: [text], options: { thread, ...options } }) =>
      (await import('./pull-requests.ts')).mergePullRequest(cli, { text, thread }, options),
  }),
  command({
    name: 'pr loop',
    group: 'Repositories',
    summary: 'Show the review loop of a pull request, or switch it on or off',
    details:
      'The loop has the agent work on failing checks, review comments and conflicts until everything is green. With --auto-merge on it merges then.\n\n`on` also starts a loop again that is blocked. To take over: send a message to its thread, push to its branch, or switch it off.',
    args: ['[ACTION]', '[PR]'],
    argHelp: { ...ARG_HELP, ACTION: 'show (default), on or off' },
    options: {
      ...THREAD,
      'auto-merge': {
        type: 'string',
        value: 'on|off',
        choices: ['on', 'off'],
        help: 'whether it merges by itself',
      },
    },
    examples: [
      'headrace pr loop',
      'headrace pr loop on --auto-merge on',
      "headrace pr loop off --thread '~Plants'",
    ],
    scope: 'service',
    writes: true,
    answer: 'pullRequests.updateReviewLoop',
    run: async (cli, { args: [action = 'show', text], options: { thread, ...options } }) =>
      (await import('./review-loop.ts')).reviewLoop(cli, action, { text, thread }, options),
  }),
];

export const pullRequestCommands: readonly Command[] = [...reads, ...writes];
