import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';

/** `all`: the whole table, of which completion is made. */
export const anyCommands = (all: () => readonly Command[]): readonly Command[] => [
  command({
    name: 'api',
    group: 'Any operation',
    summary: 'Call any operation of the API',
    details: `Prints the answer as it is, also with --json. METHOD is GET, or POST with fields or a body. {app} in the path is the app of the command.
Fields are the JSON body of a write and the query of a read; with --input they are the query. A key such as a[b] is
nested, and a[] is a list. A write gets an Idempotency-Key, or has that of --header. The operations are in openapi.json.
--json prints the API's own document, also that of an error.`,
    args: ['[METHOD]', 'PATH'],
    argHelp: { METHOD: 'GET, POST, PUT, PATCH or DELETE', PATH: 'such as /api/platform/v1/apps' },
    options: {
      'raw-field': { type: 'string', short: 'f', value: 'KEY=TEXT', help: 'a string', multiple: true },
      field: {
        type: 'string',
        short: 'F',
        value: 'KEY=VALUE',
        help: 'a number, true, false, null, @FILE or @- for stdin, else a string',
        multiple: true,
      },
      input: {
        type: 'string',
        value: 'FILE',
        help: 'the body, from a file or - for stdin',
        completes: 'file',
      },
      header: { type: 'string', short: 'H', value: 'NAME: VALUE', help: 'a header', multiple: true },
      include: { type: 'boolean', short: 'i', help: 'print the status and the headers first' },
      paginate: { type: 'boolean', help: 'read all pages of a list, by GET; with --jsonl an item a line' },
      timeout: { type: 'duration', help: 'how long the answer may take (2m)' },
    },
    examples: [
      'headrace api /api/models',
      'headrace api /api/platform/v1/apps -f name=Shop -f "metadata[plan]=pro"',
      "headrace api '/api/platform/v1/apps/{app}/threads' --app '~Shop' --paginate --jsonl",
      "headrace api PATCH '/api/platform/v1/apps/{app}' --input changes.json",
    ],
    scope: 'app',
    writes: true,
    run: async (cli, { args: [method, path], options }) =>
      (await import('./api.ts')).callApi(cli, method, path, options),
  }),
  command({
    name: 'op',
    group: 'Any operation',
    summary: 'Show what became of a write, by its receipt',
    args: ['KEY'],
    argHelp: { KEY: 'an idempotency key, or the id of a receipt: op_…' },
    examples: ['headrace op 7d1f5a52-0b0e-4c11-8c67-0f6d5f0a3c11'],
    scope: 'service',
    answer: 'operations.getOperation',
    run: async (cli, { args: [key] }) => (await import('./op.ts')).showOperation(cli, key),
  }),
  command({
    name: 'completion',
    group: 'Any operation',
    summary: 'Print a script that completes commands, options and names',
    details: `bash: \`headrace completion bash > ~/.local/share/bash-completion/completions/headrace\`, or add \`source
<(headrace completion bash)\` to ~/.bashrc.

zsh: write it to the file _headrace in a folder of $fpath, or add \`source <(headrace completion zsh)\` to ~/.zshrc, after
compinit.

fish: \`headrace completion fish > ~/.config/fish/completions/headrace.fish\`

Tab asks the service for names of apps and threads, for at most a second. After ~, names are offered instead of ids.
--json prints shell and script.`,
    args: ['SHELL'],
    argHelp: { SHELL: 'bash, zsh or fish' },
    examples: ['headrace completion fish > ~/.config/fish/completions/headrace.fish'],
    scope: 'none',
    run: async (cli, { args: [shell] }) =>
      (await import('./completion/completion.ts')).completion(cli, shell, all()),
  }),
  command({
    name: 'upgrade',
    group: 'Any operation',
    summary: 'Check for a newer version of headrace',
    details: `Asks npm's registry, or that of npm_config_registry, for at most three seconds. Changes nothing. --json prints version,
latest and isNewest.`,
    options: {
      check: { type: 'boolean', help: 'ask the registry; without it, the command only says how to upgrade' },
    },
    examples: ['headrace upgrade --check'],
    scope: 'none',
    run: async (cli, { options }) => (await import('./upgrade.ts')).upgrade(cli, options.check),
  }),
];
