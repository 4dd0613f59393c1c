/** The parts of `openapi.json` from which the client is generated. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  contentMediaType?: string;
  'x-extensible-enum'?: string[];
}

interface Reference {
  $ref?: string;
}
interface Content extends Reference {
  required?: boolean;
  content?: Record<string, { schema: Schema }>;
}
interface Parameter extends Reference {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
}
interface DocumentOperation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

export interface OpenApi {
  paths: Record<string, Record<string, DocumentOperation>>;
  components: { schemas: Record<string, Schema> } & Record<string, Record<string, unknown>>;
}

const ARCHIVE = 'application/gzip';

export interface Operation {
  /** Without the spelling of its path. */
  id: string;
  spelling: '' | 'byProject' | 'direct';
  method: string;
  path: string;
  summary: string;
  /** Which credentials may call it. */
  permission: string;
  pathParameters: Parameter[];
  query: Parameter[];
  takesKey: boolean;
  body: { schema: Schema; required: boolean; orArchive: boolean } | null;
  /** The successful JSON answer, or the type of one that is not JSON. */
  answer: { schema: Schema; orText: boolean } | { mediaType: string };
}

/** Every operation, once for each of its paths. */
export function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => 'operationId' in operation)
      .map(([method, operation]) => operationOf(document, operation, `${method.toUpperCase()} ${path}`)),
  );
}

function operationOf(document: OpenApi, operation: DocumentOperation, at: string): Operation {
  const [method, path] = at.split(' ') as [string, string];
  const [, id, spelling = ''] = /^(\w+\.\w+)(?:\.(\w+))?$/.exec(operation.operationId) ?? [];
  if (id === undefined || !['', 'byProject', 'direct'].includes(spelling))
    throw new Error(`The name of ${operation.operationId} is not understood.`);
  const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(document, parameter));
  const body = operation.requestBody && resolve<Content>(document, operation.requestBody);
  const json = body?.content?.['application/json'];
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  const content = resolve<Content>(document, success?.[1] ?? {}).content ?? {};
  const schema = content['application/json']?.schema;
  const answer = schema
    ? { schema, orText: 'text/markdown' in content }
    : { mediaType: Object.keys(content)[0] ?? '' };
  return {
    id,
    spelling: spelling as Operation['spelling'],
    method,
    path,
    summary: operation.summary,
    permission: permissionOf(operation),
    pathParameters: parameters.filter((parameter) => parameter.in === 'path'),
    query: parameters.filter((parameter) => parameter.in === 'query'),
    takesKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    body: json
      ? {
          schema: json.schema,
          required: body?.required ?? false,
          orArchive: body?.content?.[ARCHIVE] !== undefined,
        }
      : null,
    answer,
  };
}

/** The permission, from the last paragraph of a description. */
function permissionOf({ operationId, description = '' }: DocumentOperation): string {
  const permission = /(?:^|\n)(?:Permission: (.*)|Needs (?:a )?((?:no|browser) .*))\.$/.exec(description);
  if (!permission) throw new Error(`The description of ${operationId} does not end with its permission.`);
  return permission[1] ?? permission[2]!;
}

/** Resolves a reference; returns anything else unchanged. */
export function resolve<T>(document: OpenApi, value: Reference): T {
  if (value.$ref === undefined) return value as T;
  const found = value.$ref
    .slice('#/'.length)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], document);
  if (!found) throw new Error(`${value.$ref} is not in the document.`);
  return found as T;
}
