/**
 * Names for schemas that the document uses in several places: each is written once, under
 * components/schemas, and referred to everywhere else. Generated clients get a type `Thread` instead of one
 * per operation.
 *
 * A `title` is a schema's name. Other schemas are named by where they first occur: a resource of an answer by its
 * key (`{ ok, thread: … }`, `{ ok, threads: [ … ] }`), a part that recurs within others by its owner and key
 * (`RunUsage`).
 */
type Json = Record<string, unknown>;

const MIN_PROPERTIES = 3;
/** Characters of JSON from which a part that recurs is worth a name. */
const MIN_LENGTH = 250;

const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const isResource = (schema: Json) =>
  schema.type === 'object' && Object.keys(schema.properties ?? {}).length >= MIN_PROPERTIES;
export const capitalized = (text: string) => text[0]!.toUpperCase() + text.slice(1);
const singular = (text: string) => text.replace(/ies$/, 'y').replace(/s$/, '');

/** The schema that `Nullable` made this one of; undefined where it made none. */
function withoutNull(schema: Json): Json | undefined {
  const { type } = schema;
  if (!Array.isArray(type) || type.length !== 2 || type[1] !== 'null') return undefined;
  const values = schema.enum as unknown[] | undefined;
  return { ...schema, type: type[0] as string, ...(values ? { enum: values.slice(0, -1) } : {}) };
}

export class NamedSchemas {
  /** By name, as the code has them. */
  readonly #schemas: Record<string, Json> = {};
  /** By the schema's JSON. */
  readonly #names = new Map<string, string>();

  /** Names the schema where the name is free; a schema has one name. */
  name(name: string, schema: Json): void {
    const text = JSON.stringify(schema);
    if (name in this.#schemas || this.#names.has(text)) return;
    this.#schemas[name] = schema;
    this.#names.set(text, name);
  }

  /** Names the resources of an answer. Of two with one name, the second gets its domain in front. */
  nameResources(domain: string, answer: Json): void {
    for (const [key, schema] of Object.entries((answer.properties ?? {}) as Record<string, Json>)) {
      const items = schema.items as Json | undefined;
      if (isResource(schema)) this.#nameResource(domain, capitalized(key), schema);
      else if (items && isResource(items)) this.#nameResource(domain, capitalized(singular(key)), items);
    }
  }

  /**
   * Names the larger parts that the named schemas and these further ones have in common, after the place
   * where each is found first.
   */
  nameSharedParts(further: { name: string; schema: Json }[]): void {
    const places = new Map<string, string>();
    const visit = (place: string, nullable: Json) => {
      const schema = withoutNull(nullable) ?? nullable;
      const text = JSON.stringify(schema);
      const first = places.get(text);
      if (first !== undefined) {
        if (text.length >= MIN_LENGTH) this.name(first, schema);
        return;
      }
      const owner = this.#names.get(text) ?? (schema.title as string | undefined) ?? place;
      places.set(text, owner);
      for (const [key, part] of Object.entries((schema.properties ?? {}) as Record<string, Json>))
        visit(owner + capitalized(key), part);
      if (isObject(schema.items)) visit(singular(owner), schema.items);
      for (const [i, part] of ((schema.anyOf as Json[] | undefined) ?? []).entries())
        visit(`${owner}${i + 1}`, part);
    };
    for (const [name, schema] of Object.entries(this.#schemas)) visit(name, schema);
    for (const { name, schema } of further) visit(name, schema);
  }

  /** The schema as the document has it: references in place of what is named. */
  refer(schema: Json): Json {
    const name = this.#names.get(JSON.stringify(schema));
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
    const plain = withoutNull(schema);
    if (plain && this.#names.has(JSON.stringify(plain)))
      return { anyOf: [this.refer(plain), { type: 'null' }] };
    return this.#referParts(schema);
  }

  /** components/schemas. */
  document(): Json {
    return Object.fromEntries(
      Object.entries(this.#schemas).map(([name, schema]) => [name, this.#referParts(schema)]),
    );
  }

  #nameResource(domain: string, name: string, schema: Json): void {
    const title = schema.title as string | undefined;
    this.name(title ?? (name in this.#schemas ? `${capitalized(domain)}${name}` : name), schema);
  }

  #referParts(schema: Json): Json {
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, this.#referPart(keyword, value)]),
    );
  }

  #referPart(keyword: string, value: unknown): unknown {
    if (keyword === 'properties' || keyword === 'patternProperties')
      return Object.fromEntries(
        Object.entries(value as Record<string, Json>).map(([key, part]) => [key, this.refer(part)]),
      );
    if (keyword === 'anyOf' || keyword === 'oneOf') return (value as Json[]).map((part) => this.refer(part));
    if ((keyword === 'items' || keyword === 'additionalProperties') && isObject(value))
      return this.refer(value);
    return value;
  }
}
