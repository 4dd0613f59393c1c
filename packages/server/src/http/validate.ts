/**
 * Validation: everything that is wrong, together, each at its JSON pointer. Lengths count Unicode code
 * points (Ajv's default).
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import type { Field } from './errors.ts';

/**
 * No pattern runs over a longer text: it fits none. On megabytes of base64 a pattern overflowed the stack, and
 * one that is not linear would hold everybody up.
 */
export const LONGEST_MATCHED = 10_000;

function bounded(pattern: RegExp): (text: string) => boolean {
  return (text) => text.length <= LONGEST_MATCHED && pattern.test(text);
}

/** Node decodes leniently: encoding the result again shows every deviation. */
const isBase64 = (text: string) => Buffer.from(text, 'base64').toString('base64') === text;

const options = {
  allErrors: true,
  strict: false,
  removeAdditional: false,
  useDefaults: false,
  messages: true,
  discriminator: true,
  ownProperties: true,
  code: {
    regExp: Object.assign(
      (pattern: string, flags: string) => ({
        test: bounded(new RegExp(pattern, flags)),
        // Ajv compiles one for all patterns that print alike.
        toString: () => `/${pattern}/${flags}`,
      }),
      {
        code: 'bounded',
      },
    ),
  },
} as const;
const bodies = new Ajv2020({ ...options, coerceTypes: false });
// Query values are strings: '10' must pass as an integer, '' and '1.5' must not. A single value is also a list.
const queries = new Ajv2020({ ...options, coerceTypes: 'array' });
for (const ajv of [bodies, queries]) {
  ajv.addFormat('date-time', bounded(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/));
  ajv.addFormat('uri', (text: string) => URL.canParse(text));
  ajv.addFormat('email', bounded(/^[^\s@]+@[^\s@]+$/));
  // Ajv only knows it as a remark.
  ajv.removeKeyword('contentEncoding').addKeyword({
    keyword: 'contentEncoding',
    type: 'string',
    error: { message: 'must be canonical, padded base64' },
    validate: (encoding: string, text: string) => encoding !== 'base64' || isBase64(text),
  });
}

const escape = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
const MAX_FIELDS = 100;

function field(error: ErrorObject): Field {
  const { instancePath, params, keyword } = error;
  if (keyword === 'required' || keyword === 'dependentRequired')
    return { path: `${instancePath}/${escape(params.missingProperty as string)}`, message: 'is required' };
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties')
    return {
      path: `${instancePath}/${escape((params.additionalProperty ?? params.unevaluatedProperty) as string)}`,
      message: 'is not a known field',
    };
  // No branch has this value of the discriminator.
  if (keyword === 'discriminator')
    return { path: `${instancePath}/${escape(params.tag as string)}`, message: 'is not a known kind' };
  if (keyword === 'enum')
    return {
      path: instancePath,
      message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}`,
    };
  return { path: instancePath, message: error.message ?? 'is invalid' };
}

/**
 * What a query's texts say that coercion would read as something else (`0x10`, ` 5`, `1e1`), or that no
 * text of the database may hold.
 */
function textFaults(
  query: Record<string, unknown>,
  properties: Record<string, TSchema & { type?: string }>,
): Field[] {
  const values = Object.entries(query).flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((one: unknown, i) => ({ name, at: `${escape(name)}/${i}`, value: one }))
      : [{ name, at: escape(name), value }],
  );
  return values.flatMap(({ name, at, value }) => {
    if (typeof value !== 'string') return [];
    const path = `/query/${at}`;
    if (value.includes('\0')) return [{ path, message: 'must not contain NUL' }];
    if (!value.isWellFormed()) return [{ path, message: 'must not contain a lone surrogate' }];
    return Object.hasOwn(properties, name) && properties[name]!.type === 'integer' && !/^-?\d+$/.test(value)
      ? [{ path, message: 'must be integer' }]
      : [];
  });
}

/**
 * A validator that returns the faults, none when the value fits. Paths in a query begin with `/query`. Its first
 * use compiles the schema: those of all operations would take a fifth of a start.
 */
export function compile(schema: TSchema, kind: 'body' | 'query'): (value: unknown) => Field[] {
  let validate: ValidateFunction | undefined;
  const prefix = kind === 'query' ? '/query' : '';
  const { properties = {} } = schema as { properties?: Record<string, TSchema> };
  return (value) => {
    const ofTexts = kind === 'query' ? textFaults(value as Record<string, unknown>, properties) : [];
    validate ??= (kind === 'body' ? bodies : queries).compile(schema);
    if (validate(value)) return ofTexts;
    const seen = new Map<string, Field>(ofTexts.map((one) => [one.path, one]));
    for (const error of validate.errors ?? []) {
      if (
        error.keyword === 'anyOf' ||
        error.keyword === 'oneOf' ||
        error.keyword === 'if' ||
        error.keyword === 'propertyNames'
      ) {
        if (seen.size) continue;
      }
      const one = field(error);
      const path = prefix + one.path;
      if (!seen.has(path) && seen.size < MAX_FIELDS) seen.set(path, { path, message: one.message });
    }
    return [...seen.values()];
  };
}
