/** Help, from the table of commands. */
import type { Paint } from '../terminal/style.ts';
import { globalsOf } from './command.ts';
import type { Command, Group } from './command.ts';
import type { Option, Options } from './options.ts';
import { usageOf } from './parse.ts';

export const GROUPS: readonly Group[] = [
  'Start',
  'Source',
  'Threads',
  'Applies',
  'Builds',
  'Events',
  'Repositories',
  'Automation',
  'Organization',
  'Any operation',
  'Operator',
];

const NOTES: Readonly<Partial<Record<Group, string>>> = {
  Operator: ' (on the server’s host)',
};

const NEEDS_SESSION =
  'This needs a person who is signed in by e-mail address: headrace login --email ADDRESS. A service key cannot do it.';

/** Columns where nothing says how many there are. */
export const HELP_WIDTH = 80;
/** Names that are longer have their text on the next line. */
const WIDEST_NAME = 28;

export interface Look {
  paint: Paint;
  /** Columns. */
  width: number;
}

/** Of all commands, or of those that begin with a word. */
export function overview(
  commands: readonly Command[],
  word: string | undefined,
  { paint, width }: Look,
): string {
  const shown = word === undefined ? commands : commands.filter(({ name }) => name.startsWith(`${word} `));
  const lines = GROUPS.map((group) =>
    linesOf(
      shown.filter((command) => command.group === group),
      word === undefined,
    ),
  );
  const names = lines.flat().map(([name]) => name);
  const groups = GROUPS.flatMap((group, at) =>
    lines[at]!.length === 0
      ? []
      : [paint('bold', group + (NOTES[group] ?? '')), ...aligned(lines[at]!, width, names), ''],
  );
  return [
    `headrace ${word === undefined ? '<command>' : `${word} <command>`} [options]`,
    '',
    ...groups,
    ...wrapped(
      word === undefined
        ? 'headrace <command> --help describes a command with examples; headrace pr --help lists the commands of pr. Every command takes --json.'
        : `headrace ${word} <command> --help describes a command with examples.`,
      width,
    ),
  ].join('\n');
}

/** Names and summaries; commands with the same first word are one line if they are to be folded. */
function linesOf(commands: readonly Command[], isFolded: boolean): (readonly [string, string])[] {
  const lines = new Map<string, readonly [string, string]>();
  for (const command of commands) {
    const [first, second] = command.name.split(' ');
    const family = commands
      .filter(({ name }) => name.startsWith(`${first} `))
      .map(({ name }) => name.split(' ')[1]);
    if (isFolded && second !== undefined && family.length > 1)
      lines.set(`${first} `, [`${first} <command>`, family.join(', ')]);
    else lines.set(command.name, [[command.name, ...(command.args ?? [])].join(' '), command.summary]);
  }
  return [...lines.values()];
}

export function helpOf(command: Command, { paint, width }: Look): string {
  const { summary, details, args = [], argHelp = {}, options = {}, examples, needsSession } = command;
  const described = args.filter((name) => argHelp[plain(name)] !== undefined);
  return [
    ...wrapped(`${summary}.`, width),
    ...(details === undefined ? [] : ['', ...wrapped(paragraphs(details), width)]),
    ...(needsSession ? ['', ...wrapped(NEEDS_SESSION, width)] : []),
    '',
    paint('bold', 'Usage'),
    `  ${usageOf(command)}`,
    ...(described.length === 0
      ? []
      : [
          '',
          paint('bold', 'Arguments'),
          ...aligned(
            described.map((name) => [plain(name), argHelp[plain(name)]!]),
            width,
          ),
        ]),
    ...(Object.keys(options).length === 0
      ? []
      : ['', paint('bold', 'Options'), ...optionLines(options, width)]),
    '',
    paint('bold', 'Options of every command'),
    ...optionLines(globalsOf(command), width),
    '',
    paint('bold', examples.length > 1 ? 'Examples' : 'Example'),
    ...examples.flatMap((example) => example.split('\n').map((line) => `  ${line}`)),
  ].join('\n');
}

export const plain = (name: string): string => name.replace(/[[\].]/g, '');

const optionLines = (options: Options, width: number): string[] =>
  aligned(
    Object.entries(options).map(([name, option]) => [optionText(name, option), helpText(option)]),
    width,
  );

export const optionText = (name: string, { short, type, value }: Option): string =>
  `${short ? `-${short}, ` : ''}--${name}${type === 'boolean' ? '' : ` ${value ?? (type === 'duration' ? 'TIME' : 'VALUE')}`}`;

export const helpText = ({ help, choices, multiple }: Option): string =>
  help + (choices ? ` (${choices.join(', ')})` : '') + (multiple ? '; may be repeated' : '');

/** In two columns. `names`: those that are aligned together, if more than these. */
function aligned(
  pairs: readonly (readonly [string, string])[],
  width: number,
  names: readonly string[] = pairs.map(([name]) => name),
): string[] {
  const widest = Math.min(WIDEST_NAME, Math.floor(width / 2) - 4);
  const column = Math.max(0, ...names.map((name) => name.length).filter((length) => length <= widest));
  return pairs.flatMap(([name, text]) => {
    const [first = '', ...more] = wrapped(text, width - column - 4);
    const indented = more.map((line) => ' '.repeat(column + 4) + line);
    return name.length <= column
      ? [`  ${name.padEnd(column)}  ${first}`, ...indented]
      : [`  ${name}`, ' '.repeat(column + 4) + first, ...indented];
  });
}

/** Lines of the source that continue a paragraph are joined; lists and what is indented stay. */
export const paragraphs = (details: string): string => details.replaceAll(/([^\n])\n(?=[^\n\s-])/g, '$1 ');

/** Lines that are too long are broken at spaces. */
export const wrapped = (text: string, width: number): string[] =>
  text.split('\n').flatMap((line) => {
    const lines: string[] = [];
    let rest = line;
    while (rest.length > width) {
      const at = rest.lastIndexOf(' ', width);
      if (at <= 0) break;
      lines.push(rest.slice(0, at));
      rest = rest.slice(at + 1);
    }
    return [...lines, rest];
  });
