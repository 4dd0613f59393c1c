/** A schema of the document as a TypeScript type. */
import type { OpenApi, Schema } from './document.ts';
import { TYPES } from './names.ts';

/** The variants of these differ in few members: callers read one type with all of them. */
const MERGED = new Set(['EventData']);

const REFERENCE = '#/components/schemas/';

export const typeName = (schemaName: string): string => TYPES[schemaName] ?? schemaName;

/** The named schemas, each once. Errors are `errors.ts`. */
export function namedTypes({ components: { schemas } }: OpenApi): string {
  return Object.entries(schemas)
    .filter(([name]) => name !== 'Error')
    .map(([name, schema]) => {
      const type = typeOf(MERGED.has(name) ? merged(schema) : schema);
      const isInterface = type.startsWith('{') && type.endsWith('}') && schema.properties !== undefined;
      return `${comment(schema.description)}export ${isInterface ? `interface ${typeName(name)} ${type}` : `type ${typeName(name)} = ${type};`}\n`;
    })
    .join('');
}

export const errorCodes = ({ components: { schemas } }: OpenApi): string[] =>
  schemas['Error']?.properties?.['error']?.properties?.['code']?.['x-extensible-enum'] ?? [];

export const comment = (text: string | undefined): string =>
  text === undefined ? '' : `/** ${text.replaceAll('*/', '*\\/').replaceAll(/\s*\n\s*/g, ' ')} */\n`;

export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return typeName(schema.$ref.slice(REFERENCE.length));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return [...new Set(variants.map(typeOf))].join(' | ');
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return 'unknown';
  return types.map((type) => simpleType(type, schema)).join(' | ');
}

function simpleType(type: string, schema: Schema): string {
  switch (type) {
    case 'string':
      return schema.contentMediaType === undefined ? 'string' : 'Uint8Array';
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `Array<${typeOf(schema.items ?? {})}>`;
    case 'object':
      return objectType(schema);
    default:
      return type;
  }
}

function objectType({ properties, required = [], additionalProperties, patternProperties }: Schema): string {
  const values = Object.values(patternProperties ?? {});
  if (typeof additionalProperties === 'object') values.push(additionalProperties);
  const others = values.map(typeOf).join(' | ');
  if (properties)
    return `{\n${Object.entries(properties)
      .map(
        ([name, schema]) =>
          `${comment(schema.description)}${propertyName(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};\n`,
      )
      .join('')}${others && `[name: string]: ${others} | undefined;\n`}}`;
  return `Record<string, ${others || 'unknown'}>`;
}

const propertyName = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

/** One object with the members of all variants; members that some variants lack are optional. */
function merged({ description, anyOf: variants = [] }: Schema): Schema {
  const names = new Set(variants.flatMap((variant) => Object.keys(variant.properties ?? {})));
  const properties = Object.fromEntries(
    [...names].map((name) => [name, union(variants.flatMap((variant) => variant.properties?.[name] ?? []))]),
  );
  const required = [...names].filter((name) => variants.every((variant) => variant.required?.includes(name)));
  return { type: 'object', properties, required, ...(description !== undefined && { description }) };
}

/** Listed values add nothing if another schema takes any string. */
function union(schemas: readonly Schema[]): Schema {
  const open = schemas.filter((schema) => !schema.enum);
  const variants = new Map(open.map((schema) => [typeOf(schema), schema]));
  const values = new Set(schemas.flatMap((schema) => schema.enum ?? []));
  if (values.size && !variants.has('string')) variants.set('listed', { enum: [...values] });
  return variants.size === 1 ? [...variants.values()][0]! : { anyOf: [...variants.values()] };
}
