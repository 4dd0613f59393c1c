import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';

const SOURCE = 'a source: an id, the first 8 characters of one, head, thread:THREAD, ~MESSAGE or @last';
const DIR = 'the folder; by default the linked one, else this one';

export const sourceCommands: readonly Command[] = [
  command({
    name: 'push',
    group: 'Source',
    summary: 'Push a folder as a new source of the app',
    details:
      'A source is an immutable version of all files. Only what differs from the folder’s last push or pull is sent, or else ' +
      'from the head. ' +
      'What .gitignore excludes, links, and folders of dependencies are left out.\n\n' +
      'The first source of an app becomes its head. Later, applies move the head: start a thread with --source.\n\n' +
      'It prints the id of the source. --json prints the answer of `sources.importSource`: `warnings` names what was ' +
      'skipped; `sent` is nothing, changes or files. With --dry-run it is {changes, parentSourceId, headSourceId, send, ' +
      'bytesToSend, skipped}.',
    args: ['[DIR]'],
    argHelp: { DIR },
    argCompletes: { DIR: 'folder' },
    options: {
      message: { type: 'string', short: 'm', value: 'TEXT', help: 'what the source is' },
      'dry-run': { type: 'boolean', short: 'n', help: 'list what would be sent, and send nothing' },
      watch: { type: 'boolean', short: 'w', help: 'push again when files have changed, until Ctrl-C' },
      parent: { type: 'string', value: 'SOURCE', help: 'the source that this one follows' },
      'no-head': { type: 'boolean', help: 'do not make it the head of an app that has none' },
    },
    examples: ['headrace push -m "First import"', 'headrace push --watch', 'headrace push web --dry-run'],
    scope: 'app',
    writes: true,
    run: async (cli, { args: [dir], options }) => (await import('./push.ts')).pushFolder(cli, dir, options),
  }),
  command({
    name: 'pull',
    group: 'Source',
    summary: 'Write a source of the app to a folder',
    details:
      'Replaces and deletes only files that have not changed since the last push or pull. If others would be lost, it ' +
      'writes nothing, names them, and exits with 6.\n\n' +
      'With --json, `written`, `replaced` (those that existed) and `deleted` list the paths; `unchanged` counts files.',
    args: ['[SOURCE]', '[DIR]'],
    argHelp: { SOURCE: `${SOURCE}; by default the head`, DIR },
    argCompletes: { DIR: 'folder' },
    options: { force: { type: 'boolean', short: 'f', help: 'replace changed files' } },
    examples: ['headrace pull', 'headrace pull head copy', 'headrace pull thread:@last --force'],
    scope: 'app',
    answer: 'sources.getSource',
    run: async (cli, { args, options }) => (await import('./pull.ts')).pullSource(cli, args, options),
  }),
  command({
    name: 'files',
    group: 'Source',
    summary: 'List the files of a source',
    args: ['[SOURCE]'],
    argHelp: { SOURCE: `${SOURCE}; by default the head` },
    options: {
      prefix: { type: 'string', value: 'TEXT', help: 'only paths that begin with this' },
      limit: { ...LIST_OPTIONS.limit, help: 'how many to print (all)' },
    },
    examples: ['headrace files', 'headrace files thread:@last --prefix src/'],
    scope: 'app',
    answer: 'sources.listFiles',
    run: async (cli, { args: [source], options }) =>
      (await import('./files.ts')).listFiles(cli, source, options),
  }),
  command({
    name: 'cat',
    group: 'Source',
    summary: 'Print a file of a source',
    details: 'Prints the exact bytes to a file or a pipe. A terminal shows text, and refuses anything else.',
    args: ['PATH'],
    argHelp: { PATH: 'its path in the source' },
    options: {
      source: { type: 'string', short: 's', value: 'SOURCE', help: `${SOURCE}; by default the head` },
      force: { type: 'boolean', short: 'f', help: 'send a binary file to the terminal' },
    },
    examples: ['headrace cat README.md', 'headrace cat logo.png --source head > logo.png'],
    scope: 'app',
    answer: 'sources.getFile',
    run: async (cli, { args: [path], options }) => (await import('./files.ts')).printFile(cli, path, options),
  }),
  command({
    name: 'search',
    group: 'Source',
    summary: 'Search in the files of a source',
    details:
      'The service searches; nothing is downloaded. Each matching line is PATH:LINE:TEXT, and with --around the lines ' +
      'around it are PATH-LINE-TEXT. Binary files and those over 4 MiB are left out, and counted on stderr.\n\n' +
      'A GLOB has `*`, `?` and `[…]` within a segment of a path, and `**` over segments; without `/` it holds for names at ' +
      'any depth.',
    args: ['TEXT'],
    argHelp: { TEXT: 'what a line contains; with --regex, a regular expression' },
    options: {
      source: { type: 'string', short: 's', value: 'SOURCE', help: `${SOURCE}; by default the head` },
      regex: {
        type: 'boolean',
        short: 'E',
        help: 'TEXT is a regular expression in the syntax of RE2, without look-around and back-references',
      },
      'ignore-case': { type: 'boolean', short: 'i', help: 'upper and lower case are the same' },
      include: { type: 'string', value: 'GLOB', multiple: true, help: 'only in these files' },
      exclude: { type: 'string', value: 'GLOB', multiple: true, help: 'not in these files' },
      around: {
        type: 'number',
        short: 'C',
        value: 'N',
        help: 'also print N lines before and after',
        min: 0,
        max: 10,
      },
      limit: { ...LIST_OPTIONS.limit, help: 'how many lines to find (1000)' },
    },
    examples: [
      'headrace search TODO',
      "headrace search --regex 'fetch\\(.*/api/' --include 'src/**' --around 2",
      'headrace search shop -i --source thread:@last --exclude "*.lock"',
    ],
    scope: 'app',
    answer: 'sources.searchSource',
    run: async (cli, { args: [text], options }) =>
      (await import('./search.ts')).searchFiles(cli, text, options),
  }),
  command({
    name: 'log',
    group: 'Source',
    summary: 'List the sources that were the head, newest first',
    details:
      '--json prints the answer of `projects.listHeadHistory`, and with --sources of `sources.listSources`.',
    options: {
      ...LIST_OPTIONS,
      sources: { type: 'boolean', help: 'list all sources, also those of threads' },
    },
    examples: ['headrace log', 'headrace log --sources --limit 100'],
    scope: 'app',
    run: async (cli, { options }) => (await import('./log.ts')).showLog(cli, options),
  }),
  command({
    name: 'diff',
    group: 'Source',
    summary: 'Show what differs between two sources',
    details:
      'With two sources, from the first to the second; with one, from the head to it; with none, from the head to what ' +
      'this folder holds since its last push or pull. Words that are not sources are paths of files or folders; after ' +
      '`--`, all words are.\n\n' +
      'A pipe gets git patches, which `git apply` takes. A terminal gets them in $PAGER, or less.',
    args: ['[WHAT...]'],
    argHelp: { WHAT: 'sources (ids, head, thread:THREAD, ~MESSAGE, @last), then paths' },
    rest: 'PATH...',
    options: {
      thread: {
        type: 'string',
        short: 't',
        value: 'THREAD',
        help: 'from the source that the thread started with to its latest',
        completes: 'thread',
      },
      stat: { type: 'boolean', help: 'count the changed lines of each file' },
      'name-only': { type: 'boolean', help: 'list the paths' },
      'name-status': { type: 'boolean', help: 'list the paths, each with A, M, D or R' },
      word: { type: 'boolean', help: 'mark the changed words' },
      'no-pager': { type: 'boolean', help: 'do not start a pager' },
    },
    examples: [
      'headrace diff --thread @last',
      'headrace diff head thread:@last src/',
      'headrace diff head @last --stat',
    ],
    scope: 'app',
    answer: 'sources.getDiff',
    run: async (cli, { args: [words], options, rest }) =>
      (await import('./diff.ts')).showDiff(cli, { words, paths: rest }, options),
  }),
];
