/** What the completion scripts know of the commands: lines of data, from the table. */
import { globalsOf } from '../../core/command.ts';
import type { Command } from '../../core/command.ts';
import { plain } from '../../core/help.ts';
import { GLOBAL_OPTIONS } from '../../core/options.ts';
import type { Option, Options } from '../../core/options.ts';

/** A word that can be typed, and what it is. */
export interface Offer {
  word: string;
  about: string;
}
/** `app`, `thread`, `context`, `file`, `folder`, `words a b c`, or `none`. */
type Kind = string;

export interface Lines {
  /** First words of command lines; groups and commands. */
  first: Offer[];
  /** Second words, by first word. */
  second: Map<string, Offer[]>;
  /** Names of commands, with the commands of one word last. */
  names: string[];
  /** Options by command; '' is for none. */
  options: Map<string, Offer[]>;
  /** What follows an option that takes a value, by command and option: `apps list --limit`. */
  values: Map<string, Kind>;
  /** What an argument is, by command and place from 0: `context use 0`; `add *` for all further ones. */
  arguments: Map<string, Kind>;
}

export function linesOf(commands: readonly Command[]): Lines {
  const lines: Lines = {
    first: [],
    second: new Map(),
    names: commands.map(({ name }) => name),
    options: new Map(),
    values: new Map(),
    arguments: new Map(),
  };
  addOptions(lines, '', GLOBAL_OPTIONS);
  for (const command of commands) {
    const { name, summary, options = {} } = command;
    const [first, second] = name.split(' ') as [string, string?];
    const known = lines.first.find(({ word }) => word === first);
    if (!known) lines.first.push({ word: first, about: second === undefined ? summary : `${first} …` });
    else if (second === undefined) known.about = summary;
    if (second !== undefined)
      lines.second.set(first, [...(lines.second.get(first) ?? []), { word: second, about: summary }]);
    addOptions(lines, name, { ...options, ...globalsOf(command) });
    addArguments(lines, command);
  }
  return lines;
}

function addOptions(lines: Lines, name: string, options: Options): void {
  lines.options.set(
    name,
    Object.entries(options).map(([option, { help }]) => ({ word: `--${option}`, about: help })),
  );
  for (const [option, given] of Object.entries(options)) {
    const kind = kindOf(given);
    if (kind === null) continue;
    for (const word of [`--${option}`, ...(given.short ? [`-${given.short}`] : [])])
      lines.values.set(`${name} ${word}`, kind);
  }
}

function kindOf({ type, choices, completes }: Option): Kind | null {
  if (type === 'boolean') return null;
  return choices ? `words ${choices.join(' ')}` : (completes ?? 'none');
}

function addArguments({ arguments: kinds }: Lines, { name, args = [], argCompletes = {} }: Command): void {
  for (const [at, arg] of args.entries()) {
    const kind = argCompletes[plain(arg)];
    if (kind !== undefined) kinds.set(`${name} ${arg.includes('...') ? '*' : at}`, kind);
  }
}
