/** Commands that start, follow and stop work in a thread. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { THREAD_DEFAULT } from '../core/options.ts';

export const THREADS = {
  argCompletes: { THREAD: 'thread' },
  group: 'Threads',
  scope: 'app',
} as const;

const FOLLOWING = {
  verbose: { type: 'boolean', short: 'v', help: 'show the whole output of tools' },
  timeout: { type: 'duration', help: 'how long to follow; the work goes on' },
} as const;
export const FOLLOW = {
  follow: { type: 'boolean', short: 'f', help: 'follow the reply; the default on a terminal' },
  'no-follow': { type: 'boolean', help: 'do not follow the reply' },
  ...FOLLOWING,
} as const;
export const WAIT = {
  'no-wait': { type: 'boolean', help: 'do not wait for the end' },
  timeout: { type: 'duration', help: 'how long to wait (15m)' },
} as const;
export const MODEL = {
  model: {
    type: 'string',
    value: 'MODEL',
    help: 'the model, of `headrace models`; by default that of the settings',
  },
} as const;

export const KEYS =
  'On a terminal, the reply is shown as it grows. y, n and a answer an approval: yes, no, always. Ctrl-C leaves, and the ' +
  'work goes on; a second Ctrl-C, or s, stops the run. Without a terminal, only messages are printed. With --jsonl, every ' +
  'change is a line. The exit code is 1 if the run failed.';

export const workCommands: readonly Command[] = [
  command({
    ...THREADS,
    name: 'run',
    summary: 'Do work in a new thread, and optionally apply and build it',
    details:
      'Creates a thread with the message, follows its reply, applies the change, and builds it. The exit code says how it ' +
      'ended: 1 the run, the apply or the build failed, 6 the apply is in conflict; the last message names the step. After ' +
      'an interruption, the same command goes on where it was. --json prints {ok, thread, run, apply, build, failed}.',
    args: ['MESSAGE'],
    argHelp: { MESSAGE: 'what the agent is to do; - reads it from stdin' },
    options: {
      apply: { type: 'boolean', help: 'merge the change into the head' },
      manual: { type: 'boolean', help: 'leave conflicts to a person, not to an agent' },
      build: { type: 'string', value: 'COMMAND', help: 'run this in the result, and keep its output' },
      directory: { type: 'string', short: 'd', value: 'DIR', help: 'the folder that the build makes (dist)' },
      title: { type: 'string', value: 'TEXT', help: 'the title of the thread' },
      ...MODEL,
      ...FOLLOWING,
    },
    examples: ['headrace run "Add a dark mode" --apply --build "npm ci && npm run build"'],
    writes: true,
    run: async (cli, { args: [text], options }) => (await import('./run.ts')).runWork(cli, text, options),
  }),
  command({
    ...THREADS,
    name: 'send',
    summary: 'Send a message to a thread, and follow the reply',
    details: KEYS,
    args: ['[THREAD]', '[MESSAGE]'],
    argHelp: {
      THREAD: THREAD_DEFAULT,
      MESSAGE: 'what the agent is to do; - reads it from stdin; by default from the editor',
    },
    options: {
      ...FOLLOW,
      ...MODEL,
      attach: {
        type: 'string',
        value: 'FILE',
        help: 'a file that belongs to the message',
        multiple: true,
        completes: 'file',
      },
    },
    examples: [
      'headrace send "Now make it blue"',
      'headrace send "~Dark mode" - < message.md',
      'headrace send thr_01k9x3v5e8f7arh2m4t6w8y0zb "Go on"',
    ],
    writes: true,
    answer: 'messages.sendMessage',
    run: async (cli, { args: [first, second], options }) =>
      (await import('./send.ts')).send(cli, [first, second], options),
  }),
  command({
    ...THREADS,
    name: 'fork',
    summary: 'Begin a new thread where another one is, or was',
    details:
      'The new thread has the files of the checkpoint, or the latest ones, and its agent knows what was said. The other ' +
      'thread goes on as if nothing had happened. With --message, the reply is followed, as by headrace send.',
    args: ['[THREAD]'],
    argHelp: { THREAD: THREAD_DEFAULT },
    options: {
      checkpoint: {
        type: 'string',
        value: 'CHECKPOINT',
        help: 'a checkpoint of `headrace checkpoints`; by default the latest source',
      },
      'no-transcript': { type: 'boolean', help: 'do not tell the agent what was said before' },
      message: {
        type: 'string',
        short: 'm',
        value: 'TEXT',
        help: 'what the agent is to do; - reads it from stdin',
      },
      title: { type: 'string', value: 'TEXT', help: 'the title; by default that of the other thread' },
      model: { ...MODEL.model, help: 'the model; by default that of the other thread' },
      'spend-limit': {
        type: 'number',
        value: 'USD',
        help: 'the most that its runs may cost, in US dollars; by default what is left of that of the other thread',
      },
      ...FOLLOW,
    },
    examples: [
      'headrace fork --message "Try it with a table"',
      'headrace fork "~Dark mode" --checkpoint chk_01k9x3v5e8f7arh2m4t6w8y0zb --no-transcript',
      'headrace fork thr_01k9x3v5e8f7arh2m4t6w8y0zb',
    ],
    writes: true,
    answer: 'threads.forkThread',
    run: async (cli, { args: [text], options }) => (await import('./send.ts')).fork(cli, text, options),
  }),
  command({
    ...THREADS,
    name: 'attach',
    summary: 'Follow a thread until it has nothing to do',
    details: `${KEYS} --json prints {ok, thread, messages, runs} at the end.`,
    args: ['[THREAD]'],
    argHelp: { THREAD: THREAD_DEFAULT },
    options: {
      from: {
        type: 'string',
        value: 'NUMBER',
        help: 'only messages after the one with this number, or now; by default all',
      },
      ...FOLLOWING,
    },
    examples: ['headrace attach "~Dark mode"', 'headrace attach thr_01k9x3v5e8f7arh2m4t6w8y0zb --from now'],
    run: async (cli, { args: [text], options }) => (await import('./send.ts')).attach(cli, text, options),
  }),
  command({
    ...THREADS,
    name: 'stop',
    summary: 'Stop the run of a thread',
    args: ['[THREAD]'],
    argHelp: { THREAD: THREAD_DEFAULT },
    options: WAIT,
    examples: ['headrace stop', 'headrace stop thr_01k9x3v5e8f7arh2m4t6w8y0zb'],
    writes: true,
    answer: 'runs.stopRun',
    run: async (cli, { args: [text], options }) => (await import('./stop.ts')).stop(cli, text, options),
  }),
  command({
    ...THREADS,
    name: 'retry',
    summary: 'Repeat the last message of a thread',
    args: ['[THREAD]'],
    argHelp: { THREAD: THREAD_DEFAULT },
    options: FOLLOW,
    examples: ['headrace retry', 'headrace retry thr_01k9x3v5e8f7arh2m4t6w8y0zb'],
    writes: true,
    answer: 'runs.retryRun',
    run: async (cli, { args: [text], options }) => (await import('./send.ts')).retry(cli, text, options),
  }),
  command({
    ...THREADS,
    name: 'exec',
    summary: 'Run a command in the workspace of a thread',
    details:
      'Prints the output as it comes, gives the command what is on stdin, and ends with its exit code. One word after `--` ' +
      'is a line for the shell.',
    args: ['[THREAD]'],
    argHelp: { THREAD: THREAD_DEFAULT },
    rest: 'COMMAND...',
    options: {
      timeout: { type: 'duration', help: 'when to end the command (60s, at most 10m)' },
      'no-stdin': { type: 'boolean', short: 'n', help: 'do not read stdin' },
    },
    examples: [
      'headrace exec -- "grep -r TODO . | wc -l"',
      'headrace exec thr_01k9x3v5e8f7arh2m4t6w8y0zb -- npm test',
    ],
    writes: true,
    answer: 'execs.createExec',
    run: async (cli, { args: [text], options, rest: words }) =>
      (await import('./exec.ts')).exec(cli, text, { words, options }),
  }),
  command({
    ...THREADS,
    name: 'edit',
    summary: 'Edit a file of a thread in your editor',
    details: 'If the thread changes meanwhile, the exit code is 6, and your text is kept in a file.',
    args: ['[THREAD]', 'PATH'],
    argHelp: { THREAD: THREAD_DEFAULT, PATH: 'the path of the file in the source; a new file is created' },
    options: {
      file: {
        type: 'string',
        value: 'FILE',
        help: 'take the content from this file, or from - for stdin',
        completes: 'file',
      },
      delete: { type: 'boolean', help: 'delete the file' },
      message: { type: 'string', short: 'm', value: 'TEXT', help: 'a description of the edit' },
    },
    examples: [
      'headrace edit index.html',
      'headrace edit thr_01k9x3v5e8f7arh2m4t6w8y0zb robots.txt --file r.txt',
    ],
    writes: true,
    answer: 'edits.createEdit',
    run: async (cli, { args: [text, path], options }) =>
      (await import('./edit.ts')).edit(cli, [text, path], options),
  }),
];
