/** Checks bodies and queries: as strict as the service, with fewer words. */
import { Fault, invalid } from './fault.ts';
import type { Field } from './fault.ts';

/** `text`: a string that is not empty; `text200`: with a maximum length; `!`: required; `?`: or null. */
export type Shape = Record<string, string>;

const RULE = /^(text|any|count|flag|list|texts|object)(\d+)?([!?]*)$/;

function faultOf(value: unknown, kind: string, most: number): string | null {
  const is = {
    text: typeof value === 'string',
    any: typeof value === 'string',
    count: Number.isSafeInteger(value) && (value as number) >= 0,
    flag: typeof value === 'boolean',
    list: Array.isArray(value),
    texts: isObject(value) && Object.values(value).every((text) => typeof text === 'string'),
    object: isObject(value),
  }[kind];
  if (!is) return `must be ${kind === 'any' || kind === 'text' ? 'a string' : `a ${kind}`}`;
  if (kind === 'text' && value === '') return 'must not be empty';
  if (typeof value === 'number' ? value > most : (value as { length?: number }).length! > most)
    return `must be at most ${most}`;
  return null;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function faultsOf(body: unknown, shape: Shape, at = ''): Field[] {
  if (!isObject(body)) return [{ path: at, message: 'must be an object' }];
  const fields: Field[] = [];
  for (const name of Object.keys(body))
    if (!(name in shape)) fields.push({ path: `${at}/${name}`, message: 'is not expected here' });
  for (const [name, rule] of Object.entries(shape)) {
    const [, kind, most, marks] = RULE.exec(rule)!;
    const value = body[name];
    if (value === undefined) {
      if (marks!.includes('!')) fields.push({ path: `${at}/${name}`, message: 'is required' });
    } else if (!(value === null && marks!.includes('?'))) {
      const fault = faultOf(value, kind!, most ? Number(most) : Infinity);
      if (fault) fields.push({ path: `${at}/${name}`, message: fault });
    }
  }
  return fields;
}

/** Checks the body against its shape and those of its members. Throws 400. */
export function checked<T>(body: unknown, shape: Shape, members: Record<string, Shape> = {}): T {
  const fields = faultsOf(body, shape);
  for (const [name, inner] of Object.entries(members)) {
    const value = isObject(body) ? body[name] : undefined;
    if (Array.isArray(value))
      value.forEach((item, i) => fields.push(...faultsOf(item, inner, `/${name}/${i}`)));
    else if (isObject(value)) fields.push(...faultsOf(value, inner, `/${name}`));
  }
  if (fields.length) throw invalid(...fields);
  return body as T;
}

const RESERVED = new Set(['.git', '.context', '.hoplite', '.', '..', '']);

/** Throws `invalid_bundle` for paths that no source may hold. */
export function checkPaths(paths: readonly string[], list: string): void {
  const seen = new Set<string>();
  const fields: Field[] = [];
  paths.forEach((path, i) => {
    const isBad = /[\\\p{Cc}]|^[A-Za-z]:/u.test(path) || path.split('/').some((part) => RESERVED.has(part));
    const isTwice = seen.has(path.toLowerCase());
    seen.add(path.toLowerCase());
    const message = isBad ? 'is no path for a file of a source' : 'is there twice';
    if (isBad || isTwice) fields.push({ path: `/${list}/${i}/path`, message: `${path} ${message}` });
  });
  if (fields.length)
    throw new Fault('invalid_bundle', `The files break a rule: ${fields[0]!.message}`, { fields });
}

/** An integer in the query. Throws 400. */
export function numberOf(
  query: URLSearchParams,
  name: string,
  [least, most, otherwise]: [number, number, number],
): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  const number = /^\d+$/.test(text) ? Number(text) : -1;
  if (number < least || number > most)
    throw invalid({ path: `/query/${name}`, message: `must be from ${least} to ${most}` });
  return number;
}

/** `true` or `false` in the query. Throws 400. */
export function flagOf(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) ?? 'false';
  if (text !== 'true' && text !== 'false')
    throw invalid({ path: `/query/${name}`, message: 'must be true or false' });
  return text === 'true';
}
