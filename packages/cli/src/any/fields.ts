/** `-f key=value` and `-F key=value` of `headrace api`, as `gh api` has them: `a[b]=c` is nested, `a[]=c` is a list. */
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { readText } from '../core/input.ts';

export type Json = Record<string, unknown>;

/** `texts` are strings; `typed` are numbers, true, false, null, `@FILE` or `@-`, else strings. */
export async function fieldsOf(cli: Cli, texts: readonly string[], typed: readonly string[]): Promise<Json> {
  const fields: Json = {};
  for (const word of texts) {
    const [key, text] = split(word);
    assign(fields, pathOf(key), text, key);
  }
  for (const word of typed) {
    const [key, text] = split(word);
    assign(
      fields,
      pathOf(key),
      text.startsWith('@') ? await readText(cli, text.slice(1)) : typedValue(text),
      key,
    );
  }
  return fields;
}

function split(word: string): [key: string, text: string] {
  const at = word.indexOf('=');
  if (at < 1) throw usage(`${JSON.stringify(word)} is no field: write KEY=VALUE.`);
  return [word.slice(0, at), word.slice(at + 1)];
}

const CONSTANTS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function typedValue(text: string): unknown {
  if (CONSTANTS.has(text)) return CONSTANTS.get(text);
  const number = Number(text);
  // Numbers that lose digits are ids or the like.
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && String(number) === text ? number : text;
}

/** `a[b][]` → `['a', 'b', '']`. */
function pathOf(key: string): string[] {
  const [, name, brackets] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(key) ?? [];
  const path = [name ?? '', ...(brackets ?? '').slice(1, -1).split('][')].filter(
    (_, at) => at === 0 || brackets !== '',
  );
  if (name === undefined || path.includes('__proto__') || path.slice(1, -1).includes(''))
    throw usage(`${JSON.stringify(key)} is no key: write a, a[b] or a[].`);
  return path;
}

function assign(target: Json, [name, ...rest]: readonly string[], value: unknown, key: string): void {
  const [next] = rest;
  const existing = Object.hasOwn(target, name!) ? target[name!] : undefined;
  if (next === undefined) {
    if (existing !== undefined) throw usage(`${JSON.stringify(key)} is given twice.`);
    target[name!] = value;
  } else if (next === '') {
    const list = existing ?? (target[name!] = []);
    if (!Array.isArray(list)) throw usage(`${JSON.stringify(key)} is a list, and something else.`);
    list.push(value);
  } else {
    const inner = existing ?? (target[name!] = {});
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner))
      throw usage(`${JSON.stringify(key)} is an object, and something else.`);
    assign(inner as Json, rest, value, key);
  }
}
