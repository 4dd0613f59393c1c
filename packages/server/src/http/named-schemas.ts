/**
 * Names for the resources of answers (`{ ok, thread: … }`, `{ ok, threads: [ … ] }`): generated clients get
 * a type `Thread` instead of one per operation, and the document is a third as long.
 */
type Json = Record<string, unknown>;

const MIN_PROPERTIES = 3;
const isResource = (schema: Json) =>
  schema.type === 'object' && Object.keys(schema.properties ?? {}).length >= MIN_PROPERTIES;
const capitalized = (text: string) => text[0]!.toUpperCase() + text.slice(1);
const singular = (text: string) => text.replace(/ies$/, 'y').replace(/s$/, '');

export interface NamedSchemas {
  schemas: Json;
  /** An answer's schema with its resources replaced by references. */
  named(domain: string, answer: Json): Json;
}

/** `taken` are names that have a schema already. */
export function createNamedSchemas(taken: Json): NamedSchemas {
  const schemas: Json = { ...taken };

  /** Two resources of one name are told apart by their domain. */
  function reference(schema: Json, name: string, domain: string): Json {
    const text = JSON.stringify(schema);
    const free = [name, `${capitalized(domain)}${name}`].find(
      (one) => !(one in schemas) || JSON.stringify(schemas[one]) === text,
    );
    if (free === undefined) return schema;
    schemas[free] = schema;
    return { $ref: `#/components/schemas/${free}` };
  }

  function part(key: string, schema: Json, domain: string): Json {
    if (isResource(schema)) return reference(schema, capitalized(key), domain);
    const items = schema.items as Json | undefined;
    return items && isResource(items)
      ? { ...schema, items: reference(items, capitalized(singular(key)), domain) }
      : schema;
  }

  return {
    schemas,
    named: (domain, answer) =>
      answer.type !== 'object' || !answer.properties
        ? answer
        : {
            ...answer,
            properties: Object.fromEntries(
              Object.entries(answer.properties as Record<string, Json>).map(([key, schema]) => [
                key,
                part(key, schema, domain),
              ]),
            ),
          },
  };
}
