/** The operations of the checked-in document: what clients read, and nothing that only the service knows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv';

/** Everything that is off a schema; none when the value fits. */
export type FaultsOf = (value: unknown) => ErrorObject[];

/** The part of JSON Schema 2020-12 that the document uses. */
export interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  contentEncoding?: string;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  patternProperties?: Record<string, Schema>;
  maxProperties?: number;
  dependentRequired?: Record<string, string[]>;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

export interface Parameter {
  name: string;
  required: boolean;
  schema: Schema;
  faultsOf: FaultsOf;
}

export interface Response {
  headers: string[];
  /** By media type; null where the answer is no JSON. */
  content: Map<string, FaultsOf | null>;
  /** The names in a JSON object. */
  members: string[];
}

export interface Operation {
  id: string;
  /** The id without `.byProject` and `.direct`. */
  base: string;
  method: string;
  /** `/api/platform/v1/apps/{appId}` */
  path: string;
  pathParameters: string[];
  query: Parameter[];
  body: { required: boolean; schema: Schema; faultsOf: FaultsOf; types: string[] } | null;
  /** It has a receipt: takes an Idempotency-Key, answers with x-operation-id. */
  isWrite: boolean;
  isPlatform: boolean;
  isPublic: boolean;
  takesKey: boolean;
  /** The permissions that its description names. */
  permissions: string[];
  /** Its description asks for the session of an owner, or of an owner or admin. */
  needsAdmin: boolean;
  isStream: boolean;
  /** What is off in an event as a frame of the stream has it; null where it is none. */
  eventFaults: FaultsOf | null;
  responses: Map<number, Response>;
}

interface Reference {
  $ref: string;
}
interface Media {
  schema: Schema;
}
interface DocumentParameter {
  name: string;
  in: string;
  required: boolean;
  schema: Schema;
}
interface DocumentBody {
  required: boolean;
  content: Record<string, Media>;
}
interface DocumentResponse {
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
}
interface DocumentOperation {
  operationId: string;
  description: string;
  security: Record<string, unknown>[];
  parameters?: (DocumentParameter | Reference)[];
  requestBody?: DocumentBody | Reference;
  responses: Record<string, DocumentResponse | Reference>;
}
interface OpenApi {
  paths: Record<string, Record<string, DocumentOperation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, DocumentResponse> };
}

const isReference = (value: unknown): value is Reference =>
  value !== null && typeof value === 'object' && '$ref' in value;

/** What a reference into the document names; the value itself where it is none. */
function resolve<T>(document: OpenApi, value: T | Reference): T {
  if (!isReference(value)) return value;
  const named = value.$ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], document);
  return resolve(document, named as T | Reference);
}

/** The schema with what it refers to in its place. */
function inlined(document: OpenApi, schema: Schema): Schema {
  const visit = (value: unknown): unknown => {
    const found = resolve(document, value);
    if (Array.isArray(found)) return found.map(visit);
    if (found === null || typeof found !== 'object') return found;
    return Object.fromEntries(Object.entries(found).map(([key, part]) => [key, visit(part)]));
  };
  return visit(schema) as Schema;
}

export interface ApiDocument {
  operations: Operation[];
  errorFaults: FaultsOf;
}

const FILE = join(import.meta.dirname, '../../../openapi.json');
const DATE_TIME = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

export function readDocument(): ApiDocument {
  const document = JSON.parse(readFileSync(FILE, 'utf8')) as OpenApi;
  for (const schema of answersOf(document)) close(schema);
  const validatorOf = createValidators(document.components.schemas);

  function responseOf(answer: DocumentResponse): Response {
    const content = Object.entries(answer.content ?? {}).map(
      ([type, { schema }]) => [type, type === 'application/json' ? validatorOf(schema) : null] as const,
    );
    const json = answer.content?.['application/json'];
    const members = json ? Object.keys(resolve(document, json.schema).properties ?? {}) : [];
    return { headers: Object.keys(answer.headers ?? {}), content: new Map(content), members };
  }

  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, told]): Operation => {
      const parameters = (told.parameters ?? []).map((one) => resolve(document, one));
      const answers = Object.entries(told.responses).map(
        ([status, answer]) => [Number(status), resolve(document, answer)] as const,
      );
      const schemes = told.security.flatMap((one) => Object.keys(one));
      const { required, content } = resolve<Partial<DocumentBody>>(document, told.requestBody ?? {});
      const schema = content?.['application/json']?.schema;
      return {
        id: told.operationId,
        base: told.operationId.split('.').slice(0, 2).join('.'),
        method: method.toUpperCase(),
        path,
        pathParameters: parameters.filter((p) => p.in === 'path').map((p) => p.name),
        query: parameters
          .filter((p) => p.in === 'query')
          .map((p) => ({
            name: p.name,
            required: p.required,
            schema: inlined(document, p.schema),
            faultsOf: validatorOf(p.schema),
          })),
        body: schema
          ? {
              required: required ?? false,
              schema: inlined(document, schema),
              faultsOf: validatorOf(schema),
              types: Object.keys(content ?? {}),
            }
          : null,
        isWrite: parameters.some((p) => p.in === 'header' && p.name === 'Idempotency-Key'),
        isPlatform: path.startsWith('/api/platform/'),
        isPublic: schemes.length === 0,
        takesKey: schemes.includes('serviceKey'),
        permissions: [
          ...(/Permission: (.*)\.$/m.exec(told.description)?.[1] ?? '').matchAll(/`(\w+:\w+)`/g),
        ].map(([, permission]) => permission!),
        needsAdmin: /browser session of an owner/.test(told.description),
        isStream: answers.some(
          ([, { content }]) => content?.['text/event-stream'] && Object.keys(content).length === 1,
        ),
        eventFaults: path.endsWith('/events/stream')
          ? validatorOf(eventOf(document, path.replace(/\/stream$/, '')))
          : null,
        responses: new Map(answers.map(([status, answer]) => [status, responseOf(answer)])),
      };
    }),
  );
  return {
    // A program's handshake is no request that is answered.
    operations: operations.filter(({ base }) => base !== 'hosts.connectHost'),
    errorFaults: validatorOf(document.components.schemas.Error!),
  };
}

/** A feed's events, as its list names them. */
const eventOf = (document: OpenApi, list: string): Schema =>
  resolve(document, document.paths[list]!.get!.responses[200]!).content!['application/json']!.schema
    .properties!.events!.items!;

/**
 * Compiled when first used, and equal schemas once: compiled one by one, the whole document takes ten
 * seconds.
 */
function createValidators(named: Record<string, Schema>): (schema: Schema) => FaultsOf {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv
    .addFormat('date-time', DATE_TIME)
    .addFormat('uri', (text: string) => URL.canParse(text))
    .addFormat('email', /^[^\s@]+@[^\s@]+$/);
  const own = (schema: Schema) =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"')) as Schema;
  for (const [name, schema] of Object.entries(named)) ajv.addSchema(own(schema), name);
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(own(schema));
    return (value) => {
      const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text) as Schema);
      compiled.set(text, validate);
      return validate(value) ? [] : [...validate.errors!];
    };
  };
}

function answersOf(document: OpenApi): Schema[] {
  const inPaths = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((told) => Object.values(told.responses))
    .flatMap((answer) => Object.values(resolve(document, answer).content ?? {}))
    .map(({ schema }) => schema);
  return [...inPaths, ...Object.values(document.components.schemas)];
}

/** A client may be sent members that it does not know, but the document has to list all that there are. */
function close(schema: Schema): void {
  if (schema.properties && schema.additionalProperties === undefined && !schema.patternProperties)
    schema.additionalProperties = false;
  for (const one of [
    ...Object.values(schema.properties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ])
    close(one);
}
