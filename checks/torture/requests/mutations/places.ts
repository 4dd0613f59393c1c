/** The places of a body: every value with the schema that it is held to. */
import type { Schema } from '../document.ts';
import type { Json, JsonObject } from '../sample.ts';

export interface Place {
  pointer: string;
  schema: Schema;
  value: Json;
  /** Puts a value there. */
  set(value: Json): void;
}

export const token = (name: string | number) => String(name).replaceAll('~', '~0').replaceAll('/', '~1');

/** All places below the body itself; the body is changed by their `set`. */
export function placesOf(value: Json, schema: Schema, pointer = ''): Place[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, i) =>
      below(item, schema.items ?? {}, `${pointer}/${i}`, (to) => {
        value[i] = to;
      }),
    );
  }
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, item]) =>
    below(item, memberSchema(schema, name), `${pointer}/${token(name)}`, (to) => {
      value[name] = to;
    }),
  );
}

const below = (value: Json, schema: Schema, pointer: string, set: (to: Json) => void): Place[] => [
  { pointer, schema, value, set },
  ...placesOf(value, schema, pointer),
];

function memberSchema(schema: Schema, name: string): Schema {
  return (
    schema.properties?.[name] ??
    (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {})
  );
}

/** The body and every object in it that takes no further members. */
export function closedObjects(
  body: JsonObject,
  schema: Schema,
): { pointer: string; schema: Schema; value: JsonObject }[] {
  const objects = [{ pointer: '', schema, value: body as Json }, ...placesOf(body, schema)];
  return objects.filter(
    (one): one is { pointer: string; schema: Schema; value: JsonObject } =>
      one.schema.additionalProperties === false &&
      one.value !== null &&
      typeof one.value === 'object' &&
      !Array.isArray(one.value),
  );
}
