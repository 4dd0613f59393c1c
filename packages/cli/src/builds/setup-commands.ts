import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';

const SETUP_ARGUMENT = {
  SETUP: 'an id, the first 8 characters of one, ~COMMAND or @last; by default @last, or else the newest',
};

export const setupCommands: readonly Command[] = [
  command({
    name: 'setup list',
    group: 'Builds',
    summary: 'List the app’s setups, newest first',
    options: LIST_OPTIONS,
    examples: ['headrace setup list'],
    scope: 'app',
    answer: 'setups.listSetups',
    run: async (cli, { options }) => (await import('./setups.ts')).listSetups(cli, options),
  }),
  command({
    name: 'setup get',
    group: 'Builds',
    summary: 'Show a setup',
    args: ['[SETUP]'],
    argHelp: SETUP_ARGUMENT,
    examples: ['headrace setup get'],
    scope: 'app',
    answer: 'setups.getSetup',
    run: async (cli, { args: [setup] }) => (await import('./setups.ts')).showSetup(cli, setup),
  }),
  command({
    name: 'setup logs',
    group: 'Builds',
    summary: 'Print the log of a setup',
    details:
      'As `headrace logs` does for a build: a pipe gets the exact bytes; with --follow, --jsonl prints `{"text": …}` for each part.',
    args: ['[SETUP]'],
    argHelp: SETUP_ARGUMENT,
    options: {
      follow: { type: 'boolean', short: 'f', help: 'print what comes, until the setup has ended' },
    },
    examples: ['headrace setup logs -f'],
    scope: 'app',
    answer: 'setups.getLogs',
    run: async (cli, { args: [setup], options }) =>
      (await import('./setups.ts')).showSetupLogs(cli, setup, options),
  }),
  command({
    name: 'setup run',
    group: 'Builds',
    summary: 'Make the app’s setup, and print its log while it runs',
    details: `The setting \`setup\` says what runs, and for which files. A setup that is ready for them is only shown. The
log goes to stdout, everything else to stderr. The exit code is 1 if the setup fails. Ctrl-C leaves it alone.`,
    options: {
      source: {
        type: 'string',
        short: 's',
        value: 'SOURCE',
        help: 'for this source, not the app’s head',
      },
      force: { type: 'boolean', help: 'make a new one, even if one is ready' },
      'no-wait': { type: 'boolean', help: 'print its id at once' },
    },
    examples: ['headrace setup run', 'headrace setup run --force --source thread:@last'],
    scope: 'app',
    writes: true,
    answer: 'setups.createSetup',
    run: async (cli, { options }) => (await import('./setups.ts')).runSetup(cli, options),
  }),
];
