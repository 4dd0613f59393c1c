/** From a command line to a command and its input. Throws the Fault of a wrong command line. */
import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import { globalsOf } from './command.ts';
import type { Command, Input } from './command.ts';
import { GLOBAL_OPTIONS } from './options.ts';
import type { Globals, Option, Options } from './options.ts';
import { usage } from './fault.ts';
import { nearest } from './nearest.ts';

export interface Parsed {
  /** Undefined for none: `words` then name a group of commands, or nothing. */
  command: Command | undefined;
  words: string[];
  globals: Globals;
  input: Input;
}

export function parse(argv: readonly string[], commands: readonly Command[]): Parsed {
  const dashes = argv.indexOf('--');
  const before = dashes === -1 ? argv : argv.slice(0, dashes);
  const rest = dashes === -1 ? [] : argv.slice(dashes + 1);
  const command = findCommand(before, commands);
  const named = wordsOf(before, GLOBAL_OPTIONS);
  if (!command && named.length > 0 && !isGroup(named, commands)) throw unknownCommand(named, commands);
  const options: Options = { ...GLOBAL_OPTIONS, ...command?.options };
  const { values, positionals } = valuesOf(before, options, command);
  const globals = values as unknown as Globals;
  if (!command) return { command, words: positionals, globals, input: { args: [], options: values, rest } };
  const words = command.name.split(' ');
  if (globals.help || globals.version)
    return { command, words, globals, input: { args: [], options: values, rest } };
  requireUse(globals, command);
  if (globals.json && globals.jsonl) throw usage('--json and --jsonl exclude each other.');
  if (rest.length > 0 && command.rest === undefined)
    throw usage(`headrace ${command.name} takes nothing after \`--\`.`, helpOf(command));
  return {
    command,
    words,
    globals,
    input: { args: argsOf(positionals.slice(words.length), command), options: values, rest },
  };
}

/** An option that the command would ignore is a mistake: `apps delete --app A B` deletes B. */
function requireUse(globals: Globals, command: Command): void {
  const used = globalsOf(command);
  const [name] =
    Object.entries(globals).find(
      ([option, value]) =>
        option in GLOBAL_OPTIONS && !(option in used) && value !== undefined && value !== false,
    ) ?? [];
  if (name !== undefined)
    throw usage(`headrace ${command.name} has no use for --${name}: leave it out.`, helpOf(command));
}

/** The command with the most words that the line begins with, whatever options are between them. */
function findCommand(argv: readonly string[], commands: readonly Command[]): Command | undefined {
  const words = wordsOf(argv, GLOBAL_OPTIONS);
  return [2, 1]
    .map((count) => words.slice(0, count).join(' '))
    .flatMap((name) => commands.filter((command) => command.name === name))
    .at(0);
}

/** The words of a line that are neither options nor values of global options. */
function wordsOf(argv: readonly string[], options: Options): string[] {
  const { tokens } = parseArgs({
    args: [...argv],
    options: configOf(options),
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  return tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
}

const configOf = (options: Options): ParseArgsOptionsConfig =>
  Object.fromEntries(
    Object.entries(options).map(([name, { type, short, multiple }]) => [
      name,
      {
        type: type === 'boolean' ? 'boolean' : 'string',
        ...(short && { short }),
        ...(multiple && { multiple }),
      },
    ]),
  );

function valuesOf(argv: readonly string[], options: Options, command: Command | undefined) {
  const config = configOf(options);
  const { tokens } = parseArgs({
    args: [...argv],
    options: config,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const given = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = options[token.name];
    if (!option) throw unknownOption(token.rawName, options, command);
    if (option.type === 'boolean' && token.value !== undefined)
      throw usage(`--${token.name} takes no value.`);
    if (option.type !== 'boolean' && token.value === undefined)
      throw usage(`--${token.name} needs a value: --${token.name} ${option.value ?? 'VALUE'}`);
    // `--name --json`: the value was forgotten.
    if (option.type !== 'boolean' && !token.inlineValue && /^--?[a-z]/.test(token.value!))
      throw usage(
        `--${token.name} needs a value; to give ${JSON.stringify(token.value)}, write --${token.name}=${token.value}`,
      );
    const values = given.get(token.name) ?? [];
    if (values.length > 0 && !option.multiple && option.type !== 'boolean')
      throw usage(`--${token.name} is given twice.`);
    given.set(token.name, [...values, token.value ?? '']);
  }
  const values = Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, valueOf(name, option, given.get(name))]),
  );
  return { values: values as Input['options'], positionals };
}

function valueOf(name: string, option: Option, given: string[] | undefined): unknown {
  if (option.type === 'boolean') return given !== undefined;
  const values = given?.map((text) => converted(name, option, text));
  return option.multiple ? (values ?? []) : values?.[0];
}

function converted(name: string, option: Option, text: string): string | number {
  if (option.type === 'number') return numberOf(name, option, text);
  if (option.type === 'duration') return durationOf(name, text);
  if (option.choices && !option.choices.includes(text))
    throw usage(`--${name} is one of ${option.choices.join(', ')}, not ${JSON.stringify(text)}.`);
  return text;
}

function numberOf(name: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: Option, text: string): number {
  const number = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || number < min || number > max)
    throw usage(`--${name} is a number from ${min} to ${max}, not ${JSON.stringify(text)}.`);
  return number;
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationOf(name: string, text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw usage(`--${name} is a time such as 30s, 10m or 2h, not ${JSON.stringify(text)}.`);
  return Number(count) * UNITS_MS[unit!]!;
}

/** An optional argument is left out where otherwise a required one after it would be missing: `edit [THREAD] PATH`. */
function argsOf(given: string[], command: Command): Input['args'] {
  const { args = [] } = command;
  const values: (string | string[] | undefined)[] = [];
  let at = 0;
  for (const [index, name] of args.entries()) {
    const isOptional = name.startsWith('[');
    if (name.replace(']', '').endsWith('...')) {
      if (!isOptional && given.length <= at) throw missing(name, command);
      return [...values, given.slice(at)] as unknown as Input['args'];
    }
    const isLeftOut = isOptional && given.length - at <= requiredAfter(args, index);
    if (!isOptional && given[at] === undefined) throw missing(name, command);
    values.push(isLeftOut ? undefined : given[at++]);
  }
  if (given.length > at)
    throw usage(`${JSON.stringify(given[at])} is one argument too many.`, usageOf(command));
  return values as unknown as Input['args'];
}

const requiredAfter = (args: readonly string[], index: number): number =>
  args.slice(index + 1).filter((name) => !name.startsWith('[')).length;

const missing = (name: string, command: Command) =>
  usage(`${name.replace('...', '')} is missing.`, usageOf(command));

/** `headrace apps create NAME [options]` */
export function usageOf({ name, args = [], rest }: Command): string {
  return ['headrace', name, ...args, '[options]', ...(rest === undefined ? [] : [`-- ${rest}`])].join(' ');
}

const helpOf = ({ name }: Command) => `headrace ${name} --help`;

const isGroup = (words: readonly string[], commands: readonly Command[]) =>
  words.length === 1 && commands.some(({ name }) => name.startsWith(`${words[0]} `));

function unknownOption(rawName: string, options: Options, command: Command | undefined) {
  const names = Object.keys(options).map((name) => `--${name}`);
  const close = nearest(rawName, names);
  const of = command ? `headrace ${command.name}` : 'headrace';
  return usage(
    `${of} has no option ${rawName}.${close ? ` Did you mean ${close}?` : ''}`,
    command ? helpOf(command) : 'headrace --help',
  );
}

function unknownCommand(words: readonly string[], commands: readonly Command[]) {
  const names = commands.map(({ name }) => name);
  const line = words.slice(0, 2).join(' ');
  const close = nearest(line, names) ?? nearest(words[0]!, names);
  return usage(
    `There is no command ${JSON.stringify(line)}.${close ? ` Did you mean \`headrace ${close}\`?` : ''}`,
    'headrace --help',
  );
}
