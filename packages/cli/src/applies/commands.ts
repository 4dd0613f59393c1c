import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';

export const applyCommands: readonly Command[] = [
  command({
    name: 'applies list',
    group: 'Applies',
    summary: 'List applies, newest first',
    options: {
      ...LIST_OPTIONS,
      thread: { type: 'string', value: 'THREAD', help: 'only those of a thread', completes: 'thread' },
    },
    examples: ['headrace applies list', 'headrace applies list --thread @last'],
    scope: 'app',
    answer: 'applies.listApplies',
    run: async (cli, { options }) => (await import('./list.ts')).listApplies(cli, options),
  }),
  command({
    name: 'applies show',
    group: 'Applies',
    summary: 'Show an apply: its result, conflicts, and repairs',
    details: 'With --wait, the exit code is that of the apply: 0 applied, 1 failed, 6 conflicted.',
    args: ['ID'],
    argHelp: { ID: 'an apply: its id, the first 8 characters of it, or @last' },
    options: {
      wait: { type: 'boolean', help: 'wait until it has ended' },
      timeout: { type: 'duration', help: 'how long to wait (20m)' },
    },
    examples: ['headrace applies show @last --wait'],
    scope: 'app',
    answer: 'applies.getApply',
    run: async (cli, { args: [id], options }) => (await import('./list.ts')).showApply(cli, id, options),
  }),
];
