import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS, THREAD, THREAD_DEFAULT } from '../core/options.ts';
import { FOLLOW, KEYS, MODEL, THREADS, WAIT, workCommands } from './work-commands.ts';

const PROJECT = {
  project: {
    type: 'string',
    value: 'PROJECT',
    help: 'a project instead of an app: an id, the first 8 characters of one, ~NAME or @last',
  },
} as const;

const ofThread = { args: ['[THREAD]'], argHelp: { THREAD: THREAD_DEFAULT }, ...THREADS } as const;

export const threadCommands: readonly Command[] = [
  ...workCommands,
  command({
    name: 'thread list',
    ...THREADS,
    summary: 'List threads, newest first',
    options: {
      ...LIST_OPTIONS,
      status: {
        type: 'string',
        value: 'STATUS',
        help: 'only threads with this status',
        choices: ['queued', 'running', 'waiting', 'blocked', 'ready', 'failed', 'archived'],
      },
      query: { type: 'string', value: 'TEXT', help: 'only threads whose title contains this' },
      'all-apps': {
        type: 'boolean',
        help: 'those of all apps that the key can read, the latest change first',
      },
      ...PROJECT,
    },
    examples: [
      'headrace thread list --status waiting',
      "headrace thread list --project '~Garden'",
      'headrace thread list --all-apps',
    ],
    scope: 'app',
    answer: 'threads.listThreads',
    run: async (cli, { options }) => (await import('./threads.ts')).listThreads(cli, options),
  }),
  command({
    name: 'thread new',
    ...THREADS,
    summary: 'Create a thread, with or without a first message',
    details: KEYS,
    args: ['[MESSAGE]'],
    argHelp: { MESSAGE: 'what the agent is to do; - reads it from stdin' },
    options: {
      title: { type: 'string', value: 'TEXT', help: 'the title' },
      ...MODEL,
      source: {
        type: 'string',
        value: 'SOURCE',
        help: 'the source to start from, as `headrace files` takes it; by default the head',
      },
      'spend-limit': { type: 'number', value: 'USD', help: 'the most that its runs may cost, in US dollars' },
      ...PROJECT,
      branch: { type: 'string', value: 'BRANCH', help: 'with --project: the branch to start from' },
      issue: { type: 'string', value: 'URL', help: 'with --project: the issue that it is about' },
      task: { type: 'string', value: 'TASK', help: 'with --project: the id of the task that it works on' },
      ...FOLLOW,
    },
    examples: [
      'headrace thread new "Water the plants" --project \'~Garden\'',
      'headrace thread new "Add a dark mode" --title "Dark mode"',
    ],
    scope: 'app',
    writes: true,
    answer: 'threads.createThread',
    run: async (cli, { args: [text], options }) => (await import('./send.ts')).newThread(cli, text, options),
  }),
  command({
    ...ofThread,
    name: 'thread show',
    summary: 'Show a thread: its state, sources, spend and last runs',
    examples: ['headrace thread show', 'headrace thread show thr_01k9x3v5e8f7arh2m4t6w8y0zb'],
    answer: 'threads.getThread',
    run: async (cli, { args: [text] }) => (await import('./threads.ts')).showThread(cli, text),
  }),
  command({
    ...ofThread,
    name: 'thread update',
    summary: 'Change the title or the spend limit of a thread',
    options: {
      title: { type: 'string', value: 'TEXT', help: 'the title; empty for none' },
      'spend-limit': { type: 'number', value: 'USD', help: 'the most that its runs may cost, in US dollars' },
      'no-spend-limit': { type: 'boolean', help: 'remove the spend limit' },
    },
    examples: [
      'headrace thread update thr_01k9x3v5e8f7arh2m4t6w8y0zb --title "Dark mode" --spend-limit 2.50',
    ],
    writes: true,
    answer: 'threads.updateThread',
    run: async (cli, { args: [text], options }) =>
      (await import('./threads.ts')).updateThread(cli, text, options),
  }),
  command({
    ...ofThread,
    name: 'thread archive',
    summary: 'Archive a thread; its work is stopped',
    examples: [
      'headrace thread archive "~Dark mode"',
      'headrace thread archive thr_01k9x3v5e8f7arh2m4t6w8y0zb',
    ],
    writes: true,
    answer: 'threads.updateThread',
    run: async (cli, { args: [text] }) => (await import('./threads.ts')).archiveThread(cli, text, true),
  }),
  command({
    ...ofThread,
    name: 'thread unarchive',
    summary: 'Take a thread out of the archive',
    examples: [
      'headrace thread unarchive "~Dark mode"',
      'headrace thread unarchive thr_01k9x3v5e8f7arh2m4t6w8y0zb',
    ],
    writes: true,
    answer: 'threads.updateThread',
    run: async (cli, { args: [text] }) => (await import('./threads.ts')).archiveThread(cli, text, false),
  }),
  command({
    ...ofThread,
    args: ['THREAD'],
    argHelp: { THREAD },
    name: 'thread rm',
    summary: 'Delete a thread with its messages; its sources stay',
    examples: ['headrace thread rm "~Dark mode"', 'headrace thread rm thr_01k9x3v5e8f7arh2m4t6w8y0zb --yes'],
    writes: true,
    answer: 'threads.deleteThread',
    run: async (cli, { args: [text] }) => (await import('./threads.ts')).removeThread(cli, text),
  }),
  command({
    ...ofThread,
    name: 'thread export',
    summary: 'Export the messages and tools of a thread',
    options: {
      format: {
        type: 'string',
        value: 'FORMAT',
        help: 'markdown, or json with everything',
        choices: ['markdown', 'json'],
      },
      output: { type: 'string', short: 'o', value: 'FILE', help: 'a file to write', completes: 'file' },
    },
    examples: [
      'headrace thread export -o thread.md',
      'headrace thread export thr_01k9x3v5e8f7arh2m4t6w8y0zb --format json > thread.json',
    ],
    answer: 'threads.exportThread',
    run: async (cli, { args: [text], options }) =>
      (await import('./threads.ts')).exportThread(cli, text, options),
  }),
  command({
    ...ofThread,
    name: 'thread restore',
    summary: 'Bring back the files of a checkpoint or a source',
    details:
      '`headrace restore` is another command, for operators: it restores a whole service from a backup.',
    args: ['[THREAD]', 'CHECKPOINT'],
    argHelp: { THREAD, CHECKPOINT: 'a checkpoint of `headrace checkpoints`, or a source of the app' },
    options: WAIT,
    examples: [
      'headrace thread restore chk_01k9x3v5e8f7arh2m4t6w8y0zb',
      'headrace thread restore thr_01k9x3v5e8f7arh2m4t6w8y0zb src_01k9x3v5e8f7arh2m4t6w8y0zb',
    ],
    writes: true,
    answer: 'checkpoints.restoreCheckpoint',
    run: async (cli, { args: [text, what], options }) =>
      (await import('./stop.ts')).restore(cli, [text, what], options),
  }),
  command({
    ...ofThread,
    name: 'runs',
    summary: 'List the runs of a thread, newest first',
    options: LIST_OPTIONS,
    examples: ['headrace runs --limit 5', 'headrace runs thr_01k9x3v5e8f7arh2m4t6w8y0zb'],
    answer: 'runs.listRuns',
    run: async (cli, { args: [text], options }) =>
      (await import('./history.ts')).listRuns(cli, text, options),
  }),
  command({
    ...ofThread,
    name: 'messages',
    summary: 'List the messages of a thread, oldest first',
    details: 'headrace attach shows them with the tools, as a conversation.',
    options: {
      ...LIST_OPTIONS,
      order: {
        type: 'string',
        value: 'ORDER',
        help: 'the order: asc prints the oldest first, desc the newest',
        choices: ['asc', 'desc'],
      },
      inherited: { type: 'boolean', help: 'of a fork also those before it' },
    },
    examples: [
      'headrace messages --order desc --limit 2',
      'headrace messages thr_01k9x3v5e8f7arh2m4t6w8y0zb',
    ],
    answer: 'messages.listMessages',
    run: async (cli, { args: [text], options }) =>
      (await import('./history.ts')).listMessages(cli, text, options),
  }),
  command({
    ...ofThread,
    name: 'checkpoints',
    summary: 'List the checkpoints of a thread, newest first',
    options: LIST_OPTIONS,
    examples: ['headrace checkpoints', 'headrace checkpoints thr_01k9x3v5e8f7arh2m4t6w8y0zb'],
    answer: 'checkpoints.listCheckpoints',
    run: async (cli, { args: [text], options }) =>
      (await import('./history.ts')).listCheckpoints(cli, text, options),
  }),
  command({
    ...ofThread,
    name: 'approvals',
    summary: 'List what the agent has asked for, newest first',
    options: LIST_OPTIONS,
    examples: ['headrace approvals', 'headrace approvals thr_01k9x3v5e8f7arh2m4t6w8y0zb'],
    answer: 'approvals.listApprovals',
    run: async (cli, { args: [text], options }) =>
      (await import('./history.ts')).listApprovals(cli, text, options),
  }),
  ...(['approve', 'deny'] as const).map((decision) =>
    command({
      name: decision,
      group: 'Threads',
      summary: decision === 'approve' ? 'Allow what the agent asks for' : 'Refuse what the agent asks for',
      args: ['[APPROVAL]'],
      argHelp: { APPROVAL: 'an approval of `headrace approvals`; default: the only one that waits' },
      options: {
        thread: { type: 'string', short: 't', value: 'THREAD', help: THREAD, completes: 'thread' },
        always: { type: 'boolean', help: 'keep the answer for the same tool and command in this thread' },
      },
      examples: [
        `headrace ${decision} --always`,
        `headrace ${decision} apr_01k9x3v5e8f7arh2m4t6w8y0zb -t thr_01k9x3v5e8f7arh2m4t6w8y0zb`,
      ],
      scope: 'app',
      writes: true,
      answer: 'approvals.answerApproval',
      run: async (cli, { args: [text], options: { thread, always } }) =>
        (await import('./history.ts')).answerApproval(cli, text, { thread, decision, remember: always }),
    }),
  ),
];
