/** The reference of the commands, from their table. */
import type { Command } from '../src/core/command.ts';
import { EXIT } from '../src/core/exit.ts';
import type { Exit } from '../src/core/exit.ts';
import { GROUPS, helpText, optionText, paragraphs, plain } from '../src/core/help.ts';
import { GLOBAL_OPTIONS } from '../src/core/options.ts';
import type { Options } from '../src/core/options.ts';
import { usageOf } from '../src/core/parse.ts';

const INTRODUCTION = `<!-- Made from the table of commands by \`npm run openapi\`. Do not edit. -->

# Reference of headrace

\`headrace COMMAND --help\` prints the same. Data goes to stdout, everything else to stderr.

- Of several settings, the first counts: an option, the environment (\`HEADRACE_URL\`, \`HEADRACE_KEY\`, \`HEADRACE_APP\`,
  \`HEADRACE_CONTEXT\`), \`.headrace.json\` of the folder or one above it, the current context.
- Apps, threads and other things are named by id, by the beginning of an id (8 characters or more after its prefix), by
  \`~\` and a part of the name or title, or by \`@last\`, the one that you worked with last.
- Without a terminal, no command asks; it names the option that answers.
- *Continues* marks commands that write: if one is interrupted, even by \`kill -9\`, and the same command is run again, it
  goes on, and each of its writes has one effect. \`--fresh\` starts over.
- *JSON* names the operation of the [API](../../openapi.json) whose answer is the document of \`--json\`.
- *Session* marks commands that need a person who is signed in by e-mail address. A service key cannot do them.
`;

const EXIT_TEXTS: Readonly<Record<Exit, string>> = {
  [EXIT.done]: 'done',
  [EXIT.failed]: 'the run, build, apply or command failed',
  [EXIT.usage]:
    'wrong use, or a request that the service refuses as invalid; a wrong command line sends nothing',
  [EXIT.unreachable]: 'the service cannot be reached, or cannot work now',
  [EXIT.denied]: 'not signed in, or not allowed',
  [EXIT.notFound]: 'not found',
  [EXIT.conflict]: 'a conflict: of an apply, with a head that has moved, or with the state of something',
  [EXIT.busy]: 'refused because something is busy, or a limit is reached',
  [EXIT.timeout]: 'waited too long',
  [EXIT.interrupted]: 'interrupted by Ctrl-C',
};

export function referenceOf(commands: readonly Command[]): string {
  const groups = GROUPS.flatMap((group) => {
    const own = commands.filter((command) => command.group === group);
    return own.length === 0 ? [] : [`## ${group}`, ...own.flatMap(sectionOf)];
  });
  return `${[INTRODUCTION.trimEnd(), ...exits(), ...globals(), ...groups].join('\n\n')}\n`;
}

const exits = () => [
  '## Exit codes',
  table(
    ['Code', 'Meaning'],
    Object.values(EXIT).map((code) => [String(code), EXIT_TEXTS[code]]),
  ),
  'With `--json`, an error is one document on stdout, `{"ok": false, "error": {"code", "message", …}}`, with the code of the API where the error is the service’s.',
];

const globals = () => [
  '## Options of every command',
  optionTable(GLOBAL_OPTIONS),
  '`--app`, `--url`, `--context` and `--fresh` are only for commands that they mean something for.',
];

function sectionOf(command: Command): string[] {
  const { name, summary, details, args = [], argHelp = {}, options = {}, examples } = command;
  const described = args.filter((arg) => argHelp[plain(arg)] !== undefined);
  return [
    `### ${name}`,
    `${summary}.`,
    ...(details === undefined ? [] : [paragraphs(details)]),
    fenced([usageOf(command)]),
    ...(described.length + Object.keys(options).length === 0
      ? []
      : [
          table(
            ['Argument or option', ''],
            [...described.map((arg) => [`\`${plain(arg)}\``, argHelp[plain(arg)]!]), ...rowsOf(options)],
          ),
        ]),
    ...notesOf(command),
    fenced(examples),
  ];
}

function notesOf({ answer, writes, needsSession }: Command): string[] {
  const notes = [
    ...(answer === undefined ? [] : [`JSON: \`${answer}\``]),
    ...(writes ? ['Continues'] : []),
    ...(needsSession ? ['Session'] : []),
  ];
  return notes.length === 0 ? [] : [`*${notes.join(' · ')}*`];
}

const fenced = (lines: readonly string[]) => `\`\`\`sh\n${lines.join('\n')}\n\`\`\``;

const optionTable = (options: Options) => table(['Option', ''], rowsOf(options));

const rowsOf = (options: Options) =>
  Object.entries(options).map(([name, option]) => [`\`${optionText(name, option)}\``, helpText(option)]);

const table = (header: readonly string[], rows: readonly (readonly string[])[]) =>
  [header, header.map(() => '-'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
