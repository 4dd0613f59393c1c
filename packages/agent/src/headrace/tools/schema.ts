/**
 * The part of JSON Schema that the built-in tools use. Tools of MCP servers may use all of it; those servers
 * check their input themselves.
 */
export interface Schema {
  type: 'object';
  properties: Record<string, Property>;
  required?: string[];
  additionalProperties?: boolean;
}

interface Property {
  type: 'string' | 'integer' | 'boolean';
  description: string;
  minimum?: number;
  maximum?: number;
}

const NAMED = 10,
  NAME_CHARACTERS = 100;

/**
 * What is wrong with an input, in words for the model; undefined when it is valid. Null means that a field is
 * absent, because some models send it so. Unknown fields are no fault by themselves: models make some up.
 */
export function faultOf(schema: Schema, input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return 'The input has to be a JSON object.';
  const values = input as Record<string, unknown>;
  const faults = Object.entries(schema.properties).flatMap(([name, property]) => {
    const value = values[name];
    if (value === undefined || value === null)
      return schema.required?.includes(name) ? [`\`${name}\` is missing`] : [];
    const fault = faultOfValue(property, value);
    return fault === undefined ? [] : [`\`${name}\` ${fault}`];
  });
  if (faults.length === 0) return undefined;
  const unknown = unknownIn(schema, values).map((name) => `${name} is not known`);
  return `${[...faults, ...unknown].join(', ')}. ${fieldsOf(schema)}`;
}

/** For the model, about fields that a tool ignored; empty for none. */
export function ignoredNote(schema: Schema, input: Record<string, unknown>): string {
  const unknown = unknownIn(schema, input);
  return unknown.length === 0 ? '' : `\n[ignored, not known: ${unknown.join(', ')}. ${fieldsOf(schema)}]`;
}

const unknownIn = (schema: Schema, values: Record<string, unknown>): string[] =>
  Object.keys(values)
    .filter((name) => !Object.hasOwn(schema.properties, name))
    .slice(0, NAMED)
    .map((name) => `\`${name.slice(0, NAME_CHARACTERS)}\``);

const fieldsOf = ({ properties }: Schema): string => `Fields: ${Object.keys(properties).join(', ')}.`;

function faultOfValue(
  { type, minimum = -Infinity, maximum = Infinity }: Property,
  value: unknown,
): string | undefined {
  if (type === 'integer') {
    if (!Number.isSafeInteger(value)) return 'has to be a whole number';
    return (value as number) < minimum || (value as number) > maximum
      ? `has to be from ${minimum} to ${maximum}`
      : undefined;
  }
  return typeof value === type ? undefined : `has to be a ${type}`;
}

export const textOf = (input: Record<string, unknown>, name: string): string =>
  typeof input[name] === 'string' ? input[name] : '';
export const numberOf = (input: Record<string, unknown>, name: string, otherwise: number): number =>
  typeof input[name] === 'number' ? input[name] : otherwise;
