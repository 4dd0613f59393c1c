import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS, THREAD, THREAD_DEFAULT } from '../core/options.ts';
import type { Option } from '../core/options.ts';

const OF_THREAD: Option = {
  type: 'string',
  short: 't',
  value: 'THREAD',
  help: 'only those of this thread; none: only those of the app',
  completes: 'thread',
};
const OF_SOURCE: Option = {
  type: 'string',
  short: 's',
  value: 'SOURCE',
  help: 'only those of this source',
};
const ALL_APPS = { type: 'boolean', help: 'those of all apps that the key can read' } as const;
const FORCE = { type: 'boolean', help: 'replace files that differ' } as const;
const THREAD_OR_APP = { THREAD: `${THREAD_DEFAULT}; none: the app’s head` };
const BUILD = 'an id, the first 8 characters of one, ~COMMAND or @last';
const BUILD_ARGUMENT = { BUILD: `${BUILD}; by default @last, or else the newest` };

export const buildCommands: readonly Command[] = [
  command({
    name: 'build',
    group: 'Builds',
    summary: 'Build the thread’s source, and print the log while it runs',
    details: `The command runs in a sandbox with exactly the source; without one, that of the app’s newest build runs
again. The log goes to stdout, everything else to stderr. The exit code is 1 if the build fails.

Ctrl-C leaves the build alone; pressed again within 2 s, it cancels the build. --watch builds each new source of the
thread, one at a time, and waits while the thread has other work. With none as the THREAD, the app’s head
is built, or the source that --source names, and no thread waits for that.`,
    args: ['[THREAD]'],
    argHelp: THREAD_OR_APP,
    argCompletes: { THREAD: 'thread' },
    rest: 'COMMAND...',
    options: {
      directory: {
        type: 'string',
        short: 'd',
        value: 'DIR',
        help: 'the folder that the build makes (dist)',
      },
      output: {
        type: 'string',
        short: 'o',
        value: 'DIR',
        help: 'write the artifact’s files here when it is ready',
        completes: 'folder',
      },
      force: FORCE,
      source: {
        type: 'string',
        short: 's',
        value: 'SOURCE',
        help: 'build this source, not the latest',
      },
      setup: { type: 'boolean', help: 'with the layer of the app’s setup below the source' },
      timeout: { type: 'duration', help: 'the longest the command may run (10m, the most)' },
      watch: { type: 'boolean', short: 'w', help: 'build again when the thread has a new source' },
    },
    examples: [
      'headrace build -- npm run build',
      'headrace build none -- npm run build',
      'headrace build \'~Shop\' --directory out -o ./out -- "npm ci && npm run build"',
    ],
    scope: 'app',
    writes: true,
    answer: 'builds.createBuild',
    run: async (cli, { args: [thread], options, rest }) =>
      (await import('./build.ts')).build(cli, thread, options, rest),
  }),
  command({
    name: 'builds',
    group: 'Builds',
    summary: 'List builds, newest first',
    options: {
      ...LIST_OPTIONS,
      thread: OF_THREAD,
      source: OF_SOURCE,
      status: {
        type: 'string',
        value: 'STATUS',
        help: 'only those with this status',
        choices: ['queued', 'building', 'ready', 'failed'],
      },
      'all-apps': ALL_APPS,
    },
    examples: ['headrace builds --status failed', 'headrace builds --thread none --source head'],
    scope: 'app',
    answer: 'builds.listAllAppBuilds',
    run: async (cli, { options }) => (await import('./builds.ts')).listBuilds(cli, options),
  }),
  command({
    name: 'builds show',
    group: 'Builds',
    summary: 'Show a build',
    args: ['[BUILD]'],
    argHelp: BUILD_ARGUMENT,
    examples: ['headrace builds show @last'],
    scope: 'app',
    answer: 'builds.getBuild',
    run: async (cli, { args: [build] }) => (await import('./builds.ts')).showBuild(cli, build),
  }),
  command({
    name: 'builds cancel',
    group: 'Builds',
    summary: 'Cancel a build, and wait for its end',
    args: ['BUILD'],
    argHelp: { BUILD },
    examples: ['headrace builds cancel @last'],
    scope: 'app',
    writes: true,
    answer: 'builds.cancelBuild',
    run: async (cli, { args: [build] }) => (await import('./builds.ts')).cancelBuild(cli, build),
  }),
  command({
    name: 'builds manifest',
    group: 'Builds',
    summary: 'List the files of a ready build with their hashes',
    args: ['[BUILD]'],
    argHelp: BUILD_ARGUMENT,
    examples: ['headrace builds manifest @last'],
    scope: 'app',
    answer: 'builds.getManifest',
    run: async (cli, { args: [build] }) => (await import('./artifact.ts')).showManifest(cli, build),
  }),
  command({
    name: 'logs',
    group: 'Builds',
    summary: 'Print the log of a build',
    details:
      'A pipe gets the exact bytes of the log. On a terminal, control characters are shown, not sent. With --follow, --jsonl prints `{"text": …}` for each part, and --json the whole log when the build has ended.',
    args: ['[BUILD]'],
    argHelp: BUILD_ARGUMENT,
    options: {
      follow: { type: 'boolean', short: 'f', help: 'print what comes, until the build has ended' },
    },
    examples: ['headrace logs -f', 'headrace logs @last > build.log'],
    scope: 'app',
    answer: 'builds.getLogs',
    run: async (cli, { args: [build], options }) =>
      (await import('./builds.ts')).showLogs(cli, build, options),
  }),
  command({
    name: 'artifact',
    group: 'Builds',
    summary: 'Fetch the output of a ready build',
    details:
      'Each file is checked against the manifest. Files in the folder that differ are kept: the command then writes nothing, and its exit code is 6. With --json, it prints the build.',
    args: ['[BUILD]'],
    argHelp: BUILD_ARGUMENT,
    options: {
      output: {
        type: 'string',
        short: 'o',
        value: 'DIR',
        help: 'the folder (default: named as the output directory), a file that ends in .tar.gz, or - for the archive on stdout',
        completes: 'folder',
      },
      force: FORCE,
    },
    examples: ['headrace artifact -o ./site', 'headrace artifact @last -o site.tar.gz'],
    scope: 'app',
    answer: 'builds.getBuild',
    run: async (cli, { args: [build], options }) =>
      (await import('./artifact.ts')).fetchArtifact(cli, build, options),
  }),
  command({
    name: 'preview',
    group: 'Builds',
    summary: 'Run the thread’s app as a server, and print its address when it is ready',
    details: `The server runs in a sandbox with the thread’s latest source, and gets newer ones as they appear. Anyone
who knows the address can open the preview. It stops by itself after 8 hours. Ctrl-C while it starts leaves it alone; pressed
again within 2 s, it stops the preview. --stop stops the thread’s newest open preview. With none
as the THREAD, it shows the app’s head and gets newer heads as it moves, or shows only the source that --source names.`,
    args: ['[THREAD]'],
    argHelp: THREAD_OR_APP,
    argCompletes: { THREAD: 'thread' },
    rest: 'COMMAND...',
    options: {
      port: { type: 'number', short: 'p', value: 'N', help: 'where the server listens', min: 1, max: 65_535 },
      source: {
        type: 'string',
        short: 's',
        value: 'SOURCE',
        help: 'show this source, of no thread',
      },
      open: { type: 'boolean', help: 'open it in the browser when it is ready' },
      'no-setup': { type: 'boolean', help: 'without the layer of the app’s setup' },
      stop: { type: 'boolean', help: 'stop it' },
      timeout: { type: 'duration', help: 'how long to wait until it is ready (15m)' },
    },
    examples: [
      'headrace preview --port 3000 --open -- npm run dev',
      'headrace preview none --port 3000 -- npm start',
      'headrace preview --stop',
    ],
    scope: 'app',
    writes: true,
    answer: 'previews.createPreview',
    run: async (cli, { args: [thread], options, rest }) =>
      (await import('./previews.ts')).preview(cli, thread, options, rest),
  }),
  command({
    name: 'previews',
    group: 'Builds',
    summary: 'List previews, newest first',
    options: {
      ...LIST_OPTIONS,
      thread: OF_THREAD,
      source: OF_SOURCE,
      status: {
        type: 'string',
        value: 'STATUS',
        help: 'only those with this status',
        choices: ['starting', 'ready', 'failed', 'stopped'],
      },
      'all-apps': ALL_APPS,
    },
    examples: ['headrace previews --status ready'],
    scope: 'app',
    answer: 'previews.listAllAppPreviews',
    run: async (cli, { options }) => (await import('./previews.ts')).listPreviews(cli, options),
  }),
  command({
    name: 'previews stop',
    group: 'Builds',
    summary: 'Stop a preview',
    args: ['PREVIEW'],
    argHelp: { PREVIEW: 'an id, the first 8 characters of one, or ~COMMAND' },
    examples: ['headrace previews stop prv_01jd2s3x'],
    scope: 'app',
    writes: true,
    answer: 'previews.deletePreview',
    run: async (cli, { args: [name] }) => (await import('./previews.ts')).stopPreview(cli, name),
  }),
  command({
    name: 'open',
    group: 'Builds',
    summary: 'Open the newest ready preview in the browser',
    details:
      '$BROWSER names the browser; without it, the one of the system opens. The address is also printed.',
    args: ['[THREAD]'],
    argHelp: {
      THREAD: `${THREAD}; by default any of the app; none: only those of no thread`,
    },
    argCompletes: { THREAD: 'thread' },
    examples: ['headrace open', "headrace open '~Shop'"],
    scope: 'app',
    answer: 'previews.getPreview',
    run: async (cli, { args: [thread] }) => (await import('./previews.ts')).openPreview(cli, thread),
  }),
];
