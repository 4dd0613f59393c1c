/** Bodies that are JSON, and violate their schema by one value: the document's validator says where. */
import type { Random } from '../../../harness/random.ts';
import type { FaultsOf, Operation } from '../document.ts';
import { text } from '../sample.ts';
import type { Json, JsonObject } from '../sample.ts';
import { requestOf } from '../specimen.ts';
import type { Specimen } from '../specimen.ts';
import { due, INVALID_BODY } from './mutation.ts';
import type { Broken, Mutation } from './mutation.ts';
import { closedObjects, placesOf, token } from './places.ts';
import type { Place } from './places.ts';

const OTHER_TYPES: Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e21,
  2 ** 53,
  '',
  'text',
  '1',
  'true',
  'null',
  [],
  {},
  [[]],
  [null],
  { a: 1 },
];
const MEMBERS = [
  'unknown',
  'Name',
  'name ',
  '',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'a/b~c',
  '漢字',
  '🙂',
  'id',
  'orgId',
  'createdAt',
  'x'.repeat(300),
];
const LONGEST = 120_000;

const hasMembers = ({ body }: Operation) => Object.keys(body?.schema.properties ?? {}).length > 0;

/** Where the schema's faults are, as clients see them. */
function pointersOf(faultsOf: FaultsOf, body: Json): string[] {
  return faultsOf(body).map(({ instancePath, params }) => {
    const member = (params.missingProperty ?? params.additionalProperty ?? params.propertyName) as
      | string
      | undefined;
    return member === undefined ? instancePath : `${instancePath}/${token(member)}`;
  });
}

/** Sends the body as `change` left it, unless the schema takes that too. */
function changed(specimen: Specimen, change: (body: JsonObject) => unknown): Broken | undefined {
  const body = structuredClone(specimen.body!);
  if (change(body) === false) return undefined;
  const at = pointersOf(specimen.operation.body!.faultsOf, body);
  return at.length
    ? {
        request: requestOf({ ...specimen, body }),
        operation: specimen.operation,
        ...INVALID_BODY,
        at: due(at),
      }
    : undefined;
}

const onPlace = (
  specimen: Specimen,
  random: Random,
  isRight: (place: Place) => boolean,
  valueFor: (place: Place) => Json,
) =>
  changed(specimen, (body) => {
    const places = placesOf(body, specimen.operation.body!.schema).filter(isRight);
    if (places.length === 0) return false;
    const place = random.pick(places);
    return place.set(valueFor(place));
  });

const isText = ({ value }: Place) => typeof value === 'string';
const isNumber = ({ value }: Place) => typeof value === 'number';

export const VALUE_MUTATIONS: Mutation[] = [
  {
    name: 'wrong type',
    weight: 3,
    fits: hasMembers,
    apply: (specimen, random) =>
      onPlace(
        specimen,
        random,
        () => true,
        () => random.pick(OTHER_TYPES),
      ),
  },
  {
    name: 'required member missing',
    weight: 2,
    fits: ({ body }) => (body?.schema.required ?? []).length > 0,
    apply: (specimen, random) =>
      changed(specimen, (body) => {
        const objects = closedObjects(body, specimen.operation.body!.schema).filter(
          ({ schema }) => schema.required?.length,
        );
        const { schema, value } = random.pick(objects);
        delete value[random.pick(schema.required!)];
      }),
  },
  {
    name: 'unknown member',
    weight: 2,
    fits: ({ body }) => body !== null,
    apply: (specimen, random) =>
      changed(specimen, (body) => {
        // If the body has one of several shapes, the document does not close its objects.
        const objects = closedObjects(body, specimen.operation.body!.schema);
        if (objects.length === 0) return false;
        const { value } = random.pick(objects);
        return Object.defineProperty(value, random.pick(MEMBERS), {
          value: random.pick(OTHER_TYPES),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }),
  },
  {
    name: 'too long',
    weight: 2,
    fits: hasMembers,
    apply: (specimen, random) =>
      onPlace(
        specimen,
        random,
        (p) => isText(p) && (p.schema.maxLength ?? Infinity) < LONGEST,
        ({ schema }) => text(random, schema.maxLength! + 1 + (random.next() < 0.1 ? random.below(1000) : 0)),
      ),
  },
  {
    name: 'too short',
    fits: hasMembers,
    apply: (specimen, random) =>
      onPlace(
        specimen,
        random,
        (p) => isText(p) && (p.schema.minLength ?? 0) > 0,
        ({ schema }) => text(random, schema.minLength! - 1),
      ),
  },
  {
    name: 'number out of bounds',
    weight: 2,
    fits: hasMembers,
    apply: (specimen, random) =>
      onPlace(specimen, random, isNumber, ({ schema: { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } }) =>
        random.pick([minimum - 1, maximum + 1, minimum + 0.5, -1e15, 2 ** 53 + 2, 1e300, -1e-300]),
      ),
  },
  {
    name: 'not of the pattern',
    fits: hasMembers,
    apply: (specimen, random) =>
      onPlace(
        specimen,
        random,
        (p) =>
          isText(p) && (p.schema.pattern ?? p.schema.format ?? p.schema.enum ?? p.schema.const) !== undefined,
        () => random.pick(['', ' ', '-', '\n', 'NONE', '../..', '🙂', text(random, 40)]),
      ),
  },
  {
    name: 'too many items',
    weight: 0.3,
    fits: hasMembers,
    apply: (specimen, random) =>
      onPlace(
        specimen,
        random,
        ({ value, schema }) =>
          Array.isArray(value) && value.length > 0 && (schema.maxItems ?? Infinity) <= 10_000,
        ({ value, schema }) =>
          Array.from({ length: schema.maxItems! + 1 }, () => structuredClone((value as Json[])[0]!)),
      ),
  },
  {
    name: 'too many members',
    weight: 0.5,
    fits: hasMembers,
    apply: (specimen, random) =>
      onPlace(
        specimen,
        random,
        ({ schema }) => schema.maxProperties !== undefined,
        ({ schema }) =>
          Object.fromEntries(
            Array.from({ length: schema.maxProperties! + 1 }, (_, i) => [`name ${i}`, 'value']),
          ),
      ),
  },
  {
    name: 'member name too long',
    weight: 0.5,
    fits: hasMembers,
    apply: (specimen, random) =>
      onPlace(
        specimen,
        random,
        ({ schema }) => schema.propertyNames !== undefined,
        ({ schema }) => ({ ['n'.repeat(schema.propertyNames!.maxLength! + 1)]: 'value' }),
      ),
  },
];
