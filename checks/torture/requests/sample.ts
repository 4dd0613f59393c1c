/** Values that a schema takes: the plain ones, the ones at its limits, and texts that people do send. */
import type { Random } from '../../harness/random.ts';
import type { Schema } from './document.ts';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = Record<string, Json>;

/**
 * No NUL, no half of a surrogate pair: these are malformed. Some of these characters are two units long,
 * none of them two code points.
 */
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
const ODD = [
  ...' \t\n"\'\\/`<>&%$#{}[]()=+-_.,;:!?*~|^@äßéñ漢字かな한글العربيةעברית🙂🏳️‍🌈𝒳\u200b\u200d\ufeff\u202e\u2028\u2029\u0001\u001b\u007f\u0085\u00ad\ufffd\uffff\u{10ffff}',
];
const OFTEN_LONG = 200;

/** A text of so many code points. */
export function text(random: Random, length: number): string {
  const odd = random.next() < 0.4 ? 0.5 : 0;
  // Long ones repeat: drawing 100,000 characters one by one costs more than the request.
  const piece = Array.from({ length: Math.min(length, 64) }, () =>
    random.next() < odd ? random.pick(ODD) : random.pick(LETTERS),
  );
  if (length <= piece.length) return piece.join('');
  const whole = piece.join('').repeat(Math.floor(length / piece.length));
  return whole + piece.slice(0, length % piece.length).join('');
}

function lengthOf(random: Random, { minLength = 0, maxLength = 40 }: Schema): number {
  const draw = random.next();
  if (draw < 0.05) return minLength;
  if (draw < (maxLength <= OFTEN_LONG ? 0.12 : 0.06))
    return maxLength <= 20_000 || random.next() < 0.1 ? maxLength : minLength + 300;
  return Math.min(maxLength, minLength + 1 + random.below(24));
}

function integer(random: Random, { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema): number {
  const draw = random.next();
  if (draw < 0.1) return minimum;
  if (draw < 0.2) return maximum;
  return Math.min(maximum, minimum + random.below(draw < 0.8 ? 100 : Number.MAX_SAFE_INTEGER));
}

/** Where a pattern, a format or an encoding says what fits, the document's examples are what fits. */
function string(random: Random, schema: Schema): string {
  if (isFree(schema)) return text(random, lengthOf(random, schema));
  const fitting = [...(schema.examples ?? []), ...KNOWN].filter(
    (one): one is string => typeof one === 'string' && fits(one, schema),
  );
  if (fitting.length === 0) throw new Error(`No text is known that fits ${schema.pattern ?? schema.format}`);
  return random.pick(fitting);
}
/** Any text fits that is as long as it has to be. */
const isFree = ({ pattern, format, contentEncoding }: Schema): boolean =>
  pattern === undefined && format === undefined && contentEncoding === undefined;

const KNOWN = [
  '',
  'text/plain',
  'image/png',
  'aGVsbG8=',
  'example.test',
  '*.example.test',
  "'self'",
  'https://example.test',
  'https://example.test:8443',
  '2026-01-31',
  '2026-01-31T09:30:00.000Z',
  'kim@example.test',
  'https://example.test/a?b=c#d',
];
function fits(
  one: string,
  { pattern, format, contentEncoding, minLength = 0, maxLength = Infinity }: Schema,
): boolean {
  if (contentEncoding === 'base64' && Buffer.from(one, 'base64').toString('base64') !== one) return false;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(one)) return false;
  if (format === 'email' && !/^\S+@\S+$/.test(one)) return false;
  if (format === 'uri' && !/^https?:\/\/\S+$/.test(one)) return false;
  return one.length >= minLength && one.length <= maxLength;
}

/** How much of what is not required is there; `plain`: nothing, and nothing at its limit. */
type Richness = 'plain' | 'usual' | 'rich';
const OPTIONAL_SHARE: Record<Richness, number> = { plain: 0, usual: 0.4, rich: 0.9 };

export function sample(schema: Schema, random: Random, richness: Richness = 'usual'): Json {
  if ('const' in schema) return schema.const as Json;
  if (schema.enum) return random.pick(schema.enum) as Json;
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return sample(random.pick(either), random, richness);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const type =
    types.includes('null') && types.length > 1
      ? random.next() < 0.25
        ? 'null'
        : types.find((one) => one !== 'null')
      : types[0];
  switch (type) {
    case 'null':
      return null;
    case 'boolean':
      return random.next() < 0.5;
    case 'integer':
    case 'number':
      return integer(random, schema);
    case 'string':
      return richness === 'plain' && isFree(schema)
        ? 'plain'.padEnd(schema.minLength ?? 0, 'n')
        : string(random, schema);
    case 'array':
      return Array.from({ length: arrayLength(random, schema, richness) }, () =>
        sample(schema.items ?? {}, random, richness),
      );
    case 'object':
      return object(schema, random, richness);
    default:
      return random.pick([null, true, 1, 'any', [], {}]);
  }
}

/** As it appears in a query. */
export function sampleText(schema: Schema, random: Random, richness?: Richness): string {
  // Of a list one value: the parameter is repeated for more.
  const value = sample(schema.type === 'array' ? schema.items! : schema, random, richness);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function arrayLength(
  random: Random,
  { minItems = 0, maxItems = Infinity }: Schema,
  richness: Richness,
): number {
  return richness === 'plain'
    ? minItems
    : Math.min(maxItems, Math.max(minItems, richness === 'rich' ? 1 : 0) + random.below(3));
}

function object(schema: Schema, random: Random, richness: Richness): JsonObject {
  const properties = Object.entries(schema.properties ?? {});
  const chosen = new Set(
    properties
      .map(([name]) => name)
      .filter((name) => schema.required?.includes(name) || random.next() < OPTIONAL_SHARE[richness]),
  );
  for (const [name, needed] of Object.entries(schema.dependentRequired ?? {}))
    if (chosen.has(name)) for (const one of needed) chosen.add(one);
  const value: JsonObject = {};
  for (const [name, one] of properties) if (chosen.has(name)) value[name] = sample(one, random, richness);
  if (typeof schema.additionalProperties === 'object' && richness !== 'plain') {
    for (let more = random.below(4); more > 0; more--)
      value[text(random, Math.min(30, lengthOf(random, schema.propertyNames ?? {})))] = sample(
        schema.additionalProperties,
        random,
      );
  }
  return value;
}
