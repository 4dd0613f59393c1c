/** Help, from the table of commands. */
import type { Paint } from '../terminal/style.ts';
import type { Command, Group } from './command.ts';
import { GLOBAL_OPTIONS } from './options.ts';
import type { Option, Options } from './options.ts';
import { usageOf } from './parse.ts';

const GROUPS: readonly Group[] = [
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

/** Of all commands, or of those that begin with a word. */
export function overview(commands: readonly Command[], word: string | undefined, paint: Paint): string {
  const shown = word === undefined ? commands : commands.filter(({ name }) => name.startsWith(`${word} `));
  const width = Math.max(...shown.map((command) => lineOf(command).length));
  const groups = GROUPS.flatMap((group) => {
    const own = shown.filter((command) => command.group === group);
    if (own.length === 0) return [];
    return [
      paint('bold', group + (NOTES[group] ?? '')),
      ...own.map((command) => `  ${lineOf(command).padEnd(width)}  ${command.summary}`),
      '',
    ];
  });
  return [
    `headrace ${word === undefined ? '<command>' : `${word} <command>`} [options]`,
    '',
    ...groups,
    word === undefined
      ? 'headrace <command> --help describes a command with examples. Every command takes --json.'
      : `headrace ${word} <command> --help describes a command with examples.`,
  ].join('\n');
}

const lineOf = ({ name, args = [] }: Command) => [name, ...args].join(' ');

export function helpOf(command: Command, paint: Paint): string {
  const { summary, details, args = [], argHelp = {}, options = {}, examples, needsSession } = command;
  const described = args.filter((name) => argHelp[plain(name)] !== undefined);
  return [
    `${summary}.`,
    ...(details === undefined ? [] : ['', details]),
    ...(needsSession ? ['', NEEDS_SESSION] : []),
    '',
    paint('bold', 'Usage'),
    `  ${usageOf(command)}`,
    ...(described.length === 0
      ? []
      : [
          '',
          paint('bold', 'Arguments'),
          ...aligned(described.map((name) => [plain(name), argHelp[plain(name)]!])),
        ]),
    ...(Object.keys(options).length === 0 ? [] : ['', paint('bold', 'Options'), ...optionLines(options)]),
    '',
    paint('bold', 'Options of every command'),
    ...optionLines(globalsOf(command)),
    '',
    paint('bold', examples.length > 1 ? 'Examples' : 'Example'),
    ...examples.flatMap((example) => example.split('\n').map((line) => `  ${line}`)),
  ].join('\n');
}

/** Those that mean something for the command. */
export const globalsOf = ({ scope, writes }: Command): Options =>
  Object.fromEntries(
    Object.entries(GLOBAL_OPTIONS).filter(
      ([name]) =>
        (name !== 'app' || scope === 'app') &&
        (name !== 'fresh' || writes === true) &&
        (!['url', 'context'].includes(name) || scope !== 'none'),
    ),
  );

export const plain = (name: string): string => name.replace(/[[\].]/g, '');

export function optionLines(options: Options): string[] {
  return aligned(
    Object.entries(options).map(([name, option]) => [optionText(name, option), helpText(option)]),
  );
}

export const optionText = (name: string, { short, type, value }: Option): string =>
  `${short ? `-${short}, ` : ''}--${name}${type === 'boolean' ? '' : ` ${value ?? (type === 'duration' ? 'TIME' : 'VALUE')}`}`;

export const helpText = ({ help, choices, multiple }: Option): string =>
  help + (choices ? ` (${choices.join(', ')})` : '') + (multiple ? '; may be repeated' : '');

function aligned(pairs: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
}
