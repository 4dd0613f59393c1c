/** The JSON that a command sends: from a file, from `KEY=VALUE` words, and from options, which win. */
import type { Cli } from './cli.ts';
import { isRecord } from '../config/files.ts';
import { usage } from './fault.ts';
import { readText } from './input.ts';

type Json = Record<string, unknown>;

/** Options that are undefined say nothing. Objects in both are merged. The service checks the result. */
export async function bodyOf<T extends object>(
  cli: Cli,
  input: string | undefined,
  options: { [K in keyof T]?: unknown },
): Promise<T> {
  const given = input === undefined ? {} : await readObject(cli, input);
  return merged(given, options) as T;
}

/** Refuses a change that changes nothing, before anything is sent. */
export function requireChange<T extends object>(body: T): T {
  if (Object.keys(body).length === 0)
    throw usage('There is nothing to change: give an option, or --input FILE.');
  return body;
}

/** A file with a JSON object, or stdin for `-`. */
export async function readObject(cli: Cli, file: string): Promise<Json> {
  const value = parsed(await readText(cli, file), file === '-' ? 'stdin' : file);
  if (isRecord(value)) return value;
  throw usage(`${file === '-' ? 'stdin' : file} is not a JSON object.`);
}

function merged(under: Json, over: Json): Json {
  const result = { ...under };
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue;
    const below = result[key];
    result[key] = isRecord(value) ? merged(isRecord(below) ? below : {}, value) : value;
  }
  return result;
}

/**
 * `KEY=TEXT`, `KEY:=JSON`, `KEY=@FILE` and `KEY:=@FILE`; a key with dots is a path: `concurrency.runs:=4`. `@-` is
 * stdin, and `@@` a text that begins with `@`.
 */
export async function assignments(cli: Cli, words: readonly string[]): Promise<Json> {
  let result: Json = {};
  for (const word of words) {
    const [, key, colon, text] = /^([^=:]+)(:?)=(.*)$/su.exec(word) ?? [];
    if (key === undefined)
      throw usage(`${JSON.stringify(word)} is no assignment: write KEY=TEXT, KEY:=JSON or KEY=@FILE.`);
    const isFile = text!.startsWith('@') && !text!.startsWith('@@');
    const content = isFile ? await readText(cli, text!.slice(1)) : text!.replace(/^@@/, '@');
    const value = colon === '' ? content : parsed(content, isFile ? text!.slice(1) : key);
    result = merged(result, nested(pathOf(key), value));
  }
  return result;
}

/** `a.b` → `['a', 'b']`. */
export function pathOf(key: string): string[] {
  const path = key.split('.');
  if (path.some((part) => part === '' || part === '__proto__'))
    throw usage(`${JSON.stringify(key)} is no key.`);
  return path;
}

const nested = (path: readonly string[], value: unknown): Json =>
  path.toReversed().reduce<unknown>((inner, key) => ({ [key]: inner }), value) as Json;

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usage(`${where} is not JSON: ${(error as Error).message}`);
  }
}
