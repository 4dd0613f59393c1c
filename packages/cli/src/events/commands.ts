import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';

export const eventCommands: readonly Command[] = [
  command({
    name: 'events',
    group: 'Events',
    summary: 'Print events, oldest first, and follow them',
    details: `Prints JSON lines to a pipe, and words to a terminal. Without an app (--app, a linked folder, a context), the events of all apps that the key can read.

--follow prints what is there, then what comes, each event once and in order, until Ctrl-C (exit code 130). It waits for a service that is away. If events can be missing, because the service no longer keeps them or the key may read other apps than before, it says so on stderr and goes on with what comes.

--save appends JSON lines to a file, and goes on after its last line: each event is in the file once, however often the command is killed. It cuts off a last line that is torn. A second process on the same file is refused (exit code 7). Each line is written at once; fsync follows at each pause and at the end, since what a power failure takes is read again.`,
    options: {
      follow: { type: 'boolean', short: 'f', help: 'go on with what comes' },
      thread: {
        type: 'string',
        short: 't',
        value: 'THREAD',
        help: 'only those of this thread',
        completes: 'thread',
      },
      run: { type: 'string', value: 'ID', help: 'only those of this run' },
      type: {
        type: 'string',
        value: 'TYPE',
        help: 'only this type, for example run.completed',
        multiple: true,
      },
      since: { type: 'string', value: 'CURSOR', help: 'those after this cursor of an event' },
      limit: {
        type: 'number',
        short: 'L',
        value: 'N',
        help: 'at most so many, the oldest',
        min: 1,
        max: 100_000,
      },
      last: { type: 'number', short: 'n', value: 'N', help: 'the newest so many', min: 0, max: 100_000 },
      save: { type: 'string', value: 'FILE', help: 'append them to this file', completes: 'file' },
      'all-apps': { type: 'boolean', help: 'those of all apps that the key can read' },
      direct: { type: 'boolean', help: 'those of projects, not of apps' },
      project: { type: 'string', value: 'PROJECT', help: 'only those of this project; with --direct' },
    },
    examples: [
      'headrace events --follow --type run.completed --type run.failed',
      'headrace events --save events.jsonl --follow',
      'headrace events --last 20',
    ],
    scope: 'app',
    answer: 'events.listAppEvents',
    run: async (cli, { options }) => (await import('./events.ts')).showEvents(cli, options),
  }),
];
