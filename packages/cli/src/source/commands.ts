import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { LIST_OPTIONS } from '../core/options.ts';

const SOURCE =
  'a version: an id, the first 8 characters of one, `head`, `thread:THREAD`, `~MESSAGE` or `@last`';
const DIR = 'the folder; by default the linked one, else this one';

export const sourceCommands: readonly Command[] = [
  command({
    name: 'push',
    group: 'Source',
    summary: 'Push a folder as a version of the app',
    details:
      'Sends what differs from the version that the folder holds since its last push or pull, else from the head. ' +
      'It leaves out what .gitignore excludes, links, and folders of dependencies.\n\n' +
      'The first version of an app becomes its head. The head moves by applies later: start a thread from a version.\n\n' +
      'It prints the id of the version. --json prints the answer of `sources.importSource`: `warnings` names what was ' +
      'skipped; `sent` is nothing, changes or files. With --dry-run it is {changes, parentSourceId, headSourceId, send, ' +
      'bytesToSend, skipped}.',
    args: ['[DIR]'],
    argHelp: { DIR },
    argCompletes: { DIR: 'folder' },
    options: {
      message: { type: 'string', short: 'm', value: 'TEXT', help: 'what the version is' },
      'dry-run': { type: 'boolean', short: 'n', help: 'list what would be sent, and send nothing' },
      watch: { type: 'boolean', short: 'w', help: 'push again when files have changed, until Ctrl-C' },
      parent: { type: 'string', value: 'SOURCE', help: 'the version that this one follows' },
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
    summary: 'Write a version of the app to a folder',
    details:
      'Replaces and deletes only files that have not changed since the last push or pull. If others would be lost, it ' +
      'writes nothing, names them, and ends with 6.\n\n' +
      'With --json, `written`, `replaced` (those of them that were there), `deleted` and `unchanged` say what it did.',
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
    summary: 'List the files of a version',
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
    summary: 'Print a file of a version',
    details: 'Prints the exact bytes to a file or a pipe. A terminal shows text, and refuses anything else.',
    args: ['PATH'],
    argHelp: { PATH: 'its path in the version' },
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
    name: 'log',
    group: 'Source',
    summary: 'List the versions that were the head, newest first',
    details:
      '--json prints the answer of `projects.listHeadHistory`, and with --sources of `sources.listSources`.',
    options: {
      ...LIST_OPTIONS,
      sources: { type: 'boolean', help: 'list all versions, also those of threads' },
    },
    examples: ['headrace log', 'headrace log --sources --limit 100'],
    scope: 'app',
    run: async (cli, { options }) => (await import('./log.ts')).showLog(cli, options),
  }),
  command({
    name: 'diff',
    group: 'Source',
    summary: 'Show what differs between two versions',
    details:
      'With two versions, from the first to the second; with one, from the head to it; with none, from the head to what ' +
      'this folder holds since its last push or pull. Words that are no versions are paths: files or folders; after ' +
      '`--`, all are.\n\n' +
      'A pipe gets git patches, which `git apply` takes. A terminal gets them in $PAGER, or less.',
    args: ['[WHAT...]'],
    argHelp: { WHAT: 'versions (ids, `head`, `thread:THREAD`, `@last`), then paths' },
    rest: 'PATH...',
    options: {
      thread: {
        type: 'string',
        short: 't',
        value: 'THREAD',
        help: 'from the version that the thread started with to its latest',
        completes: 'thread',
      },
      stat: { type: 'boolean', help: 'count the changed lines of each file' },
      'name-only': { type: 'boolean', help: 'list the paths' },
      'name-status': { type: 'boolean', help: 'list the paths with A, M, D or R' },
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
