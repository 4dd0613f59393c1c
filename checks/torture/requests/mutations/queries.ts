/** Queries off their schema, and cursors that are not this list's. */
import { randomBytes } from 'node:crypto';
import type { Random } from '../../../harness/random.ts';
import type { Operation, Parameter } from '../document.ts';
import { sampleText, text } from '../sample.ts';
import { requestOf, targetOf } from '../specimen.ts';
import type { Specimen } from '../specimen.ts';
import type { World } from '../world.ts';
import type { Broken, Mutation } from './mutation.ts';
import { SIGNED_BY_SENDER } from './paths.ts';

const NO_INTEGER = [
  '',
  'abc',
  '1.5',
  '-1',
  '0x10',
  '1e1',
  ' 1',
  '1 ',
  '+1',
  '１',
  'NaN',
  'Infinity',
  'null',
  'true',
  '1,2',
  '99999999999999999999',
  '9007199254740993',
  '[]',
];
const NO_BOOLEAN = ['', '1', '0', 'yes', 'TRUE', 'null', 'tru'];
/** Not a list, whose values come one by one. */
const isOneValue = ({ schema }: Parameter) => schema.type !== 'array';

const NAMES = [
  'unknown',
  'Limit',
  'limit[]',
  'limit.x',
  '__proto__',
  'constructor',
  'appId',
  '%F0%9F%99%82',
  '%00',
];
const unknownTo = ({ query }: Operation) =>
  NAMES.filter((name) => !query.some((known) => known.name === name));
/** A head is asked for with a reader's filters as they are; of its cursor it makes no use. */
const HEADS = /EventsHead$|\.eventsHead$/;
/** As they go out. What they decode to, if anything, may be a value like any other. */
const ENCODINGS = [
  '%',
  '%zz',
  '%c0%80',
  '%ed%a0%80',
  '%ff',
  '%00',
  'a%00b',
  '%F0%9F',
  '%u0041',
  '%0d%0a',
  '%252e',
];

const invalid = (specimen: Specimen, name: string): Broken => ({
  request: requestOf(specimen),
  operation: specimen.operation,
  status: [400],
  code: ['invalid_request'],
  at: [`/query/${name}`],
});
const withQuery = (specimen: Specimen, name: string, value: string): Broken =>
  invalid({ ...specimen, query: { ...specimen.query, [name]: value } }, name);
/** The query as it is, with this at its end. */
const withText = (specimen: Specimen, raw: string) => ({
  ...requestOf(specimen),
  target: `${targetOf(specimen)}${Object.keys(specimen.query).length ? '&' : '?'}${raw}`,
});

function allows(
  { enum: values, pattern, minLength = 0, maxLength = Infinity }: Parameter['schema'],
  text: string,
) {
  if (text.length < minLength || text.length > maxLength) return false;
  return values ? values.includes(text) : new RegExp(pattern!, 'u').test(text);
}

function wrongValue({ schema }: Parameter, random: Random): string | undefined {
  if (schema.type === 'integer')
    return random.pick([...NO_INTEGER, String(schema.minimum! - 1), String(schema.maximum! + 1)]);
  if (schema.type === 'boolean') return random.pick(NO_BOOLEAN);
  if (schema.enum || schema.pattern) {
    const values = ['', 'none', ` ${sampleText(schema, random)}`, 'READY', text(random, 20)];
    // A pattern may let nearly all of them through.
    const wrong = values.filter((value) => !allows(schema, value));
    return wrong.length === 0 ? undefined : random.pick(wrong);
  }
  if (schema.minLength && random.next() < 0.5) return '';
  return schema.maxLength === undefined
    ? undefined
    : text(random, schema.maxLength + 1).replaceAll(/[^\x20-\x7e]/g, 'a');
}

const hasCursor = ({ query }: Operation) => query.some(({ name }) => name === 'cursor');

/**
 * Cursors: made up, of another list, of another organization, and this list's own with one character
 * changed or its end cut off.
 */
async function forgedCursors(
  { operation, path }: Specimen,
  { calls, key, elsewhere, owner, exhibits: { ids } }: World,
  random: Random,
): Promise<string[]> {
  const made = [
    randomBytes(40).toString('base64url'),
    'x',
    'null',
    '0',
    '-1',
    'eyJpZCI6MX0',
    'a'.repeat(2000),
    ids.threadId!,
    "' or 1=1 --",
  ];
  if (random.next() < 0.7) return made;
  const feed = path.includes('/events');
  const cursorOf = async (by: typeof key, at: string) => (await calls.call(by, 'GET', at)).cursor as string;
  const [own, other] = [
    await cursorOf(key, '/api/events/head'),
    await cursorOf(elsewhere, '/api/events/head'),
  ];
  const isOwn =
    operation.base === 'events.listEvents' ||
    operation.base === 'events.streamEvents' ||
    operation.base === 'events.eventsHead';
  const at = random.below(own.length);
  const swapped = own.slice(0, at) + (own[at] === 'A' ? 'B' : 'A') + own.slice(at + 1);
  const list = ((await calls.call(owner, 'GET', '/api/audit?limit=1')).nextCursor as string | null) ?? 'x';
  return [
    other,
    swapped,
    own.slice(0, -1),
    `${own}A`,
    own.toUpperCase(),
    ...(feed && isOwn ? [] : [own]),
    ...(operation.base === 'audit.listEntries' ? [] : [list]),
  ];
}

export const QUERY_MUTATIONS: Mutation[] = [
  {
    name: 'wrong query value',
    weight: 2,
    fits: ({ query }) => query.length > 0,
    apply: (specimen, random) => {
      const parameter = random.pick(specimen.operation.query);
      const value = wrongValue(parameter, random);
      return value === undefined ? undefined : withQuery(specimen, parameter.name, value);
    },
  },
  {
    name: 'required query missing',
    fits: ({ query }) => query.some(({ required }) => required),
    apply: (specimen, random) => {
      const { name } = random.pick(specimen.operation.query.filter(({ required }) => required));
      const { [name]: _, ...query } = specimen.query;
      return invalid({ ...specimen, query }, name);
    },
  },
  {
    name: 'unknown query',
    // A hook is refused for its body or its signature first.
    fits: ({ base }) => !SIGNED_BY_SENDER.includes(base),
    apply: (specimen, random) => ({
      request: withText(specimen, `${random.pick(unknownTo(specimen.operation))}=1`),
      operation: specimen.operation,
      status: [400],
      code: ['invalid_request'],
    }),
  },
  {
    name: 'query twice',
    fits: ({ query }) => query.some(isOneValue),
    apply: (specimen, random) => {
      const { name, schema } = random.pick(specimen.operation.query.filter(isOneValue));
      const value = encodeURIComponent(sampleText(schema, random));
      const { [name]: _, ...query } = specimen.query;
      return {
        ...invalid(specimen, name),
        request: withText({ ...specimen, query }, `${name}=${value}&${name}=${value}`),
      };
    },
  },
  {
    name: 'broken encoding in a query',
    fits: ({ query }) => query.some(({ schema }) => schema.type === 'string'),
    apply: (specimen, random) => {
      const { name } = random.pick(specimen.operation.query.filter(({ schema }) => schema.type === 'string'));
      const { [name]: _, ...query } = specimen.query;
      return {
        request: withText({ ...specimen, query }, `${name}=${random.pick(ENCODINGS)}`),
        operation: specimen.operation,
        status: [400, 404],
        mayPass: true,
      };
    },
  },
  {
    name: 'forged cursor',
    weight: 2,
    fits: hasCursor,
    apply: async (specimen, random, world) => ({
      ...withQuery(specimen, 'cursor', random.pick(await forgedCursors(specimen, world, random))),
      code: ['invalid_cursor'],
      at: undefined,
      mayPass: HEADS.test(specimen.operation.base),
    }),
  },
  {
    name: 'forged Last-Event-ID',
    weight: 2,
    fits: ({ isStream }) => isStream,
    apply: async (specimen, random, world) => {
      const forged = random.pick([
        '1',
        '4711',
        'evt_01k9x3v5e8f7arh2m4t6w8y0zb',
        ...(await forgedCursors(specimen, world, random)),
      ]);
      return {
        request: requestOf({ ...specimen, headers: [['last-event-id', forged]] }),
        operation: specimen.operation,
        status: [400],
        code: ['invalid_cursor'],
      };
    },
  },
];
