/**
 * The OpenAPI 3.1 document, made from the same route table that the server registers: what is not in the
 * table is not served, and the other way round. TypeBox schemas are JSON Schema 2020-12 already: the
 * document has them as they are, with references to what is named.
 */
import type { TSchema } from 'typebox';
import { CODES } from './errors.ts';
import { exampleOf } from './example.ts';
import { capitalized, NamedSchemas } from './named-schemas.ts';
import type { Access, Operation, Route } from './operation.ts';
import { PARAM_PREFIX } from './path-params.ts';
import { Counter, ErrorBody, EXAMPLE_ID, Micros, Sha256, Time } from './schemas.ts';

type Json = Record<string, unknown>;

const STATUS: Record<number, string> = {
  400: 'Invalid request; `fields` names what is wrong',
  401: 'Key missing, invalid, or (Direct API) lacking the permission',
  402: 'The organization lacks access to this capability',
  403: 'Permission, app scope, role or entitlement denied',
  404: 'Not available in the authenticated scope',
  409: 'Conflict with a receipt or with the current state',
  410: 'The event cursor expired; capture a fresh head and snapshot',
  413: 'Request too large',
  415: 'Not a media type that this operation takes',
  429: 'Rate limit exceeded',
  500: 'Unexpected failure',
  501: 'The deployment has not configured this',
  502: 'Nothing answers behind this address',
  503: 'A required dependency is unavailable',
};
const BASE_ERRORS = [400, 401, 402, 403, 404, 409, 410, 413, 415, 429, 500, 501, 503];

const header = (description: string, type: string, example: unknown) => ({
  description,
  schema: { type, examples: [example] },
});
const HEADERS: Json = {
  RateLimit: header(
    'Ingress policy, remaining requests and seconds until reset',
    'string',
    '"ingress";r=599;t=60',
  ),
  'RateLimit-Policy': header('Quota and window', 'string', '"ingress";q=600;qu="requests";w=60'),
  'X-RateLimit-Limit': header('Maximum requests in the rolling window', 'integer', 600),
  'X-RateLimit-Remaining': header('Requests remaining in the window', 'integer', 599),
  'X-RateLimit-Reset': header('Unix timestamp when the window resets', 'integer', 1_790_000_000),
  'x-request-id': header('Request correlation id', 'string', 'req-7f3a'),
  'x-headrace-version': header('Version of the service that answers', 'string', '0.1.0'),
};
const RETRY_HEADERS: Json = {
  'Retry-After': header('Seconds until retry', 'integer', 1),
  'X-Retry-After': header('Legacy retry delay in seconds', 'integer', 1),
};
const RECEIPT_HEADERS: Json = {
  'x-operation-id': header(
    'The receipt of this write: GET /api/operations/{operationId}',
    'string',
    'op_01k9x3v5e8f7arh2m4t6w8y0zb',
  ),
  'idempotent-replayed': header('`true` on a replay', 'string', 'true'),
};

const ALL_HEADERS = { ...HEADERS, ...RETRY_HEADERS, ...RECEIPT_HEADERS };
const referTo = (...groups: Json[]): Json =>
  Object.fromEntries(
    groups
      .flatMap((group) => Object.keys(group))
      .map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

function security(access: Access): Json[] {
  const key = [{ serviceKey: [] }, { bearerKey: [] }];
  const session = [{ session: [] }];
  if (access === 'public') return [];
  if (typeof access === 'object' && 'session' in access) return session;
  return [...key, ...session];
}

function permissionText(access: Access): string {
  if (access === 'public') return 'Needs no credential.';
  if (access === 'authenticated') return 'Permission: that of the operation it reports on.';
  if ('session' in access)
    return access.session === 'member' || access.session === 'user'
      ? 'Needs a browser session.'
      : `Needs a browser session of an ${access.session === 'owner' ? 'owner' : 'owner or admin'}.`;
  return `Permission: ${access.permissions.map((p) => `\`${p}\``).join(' and ')}.`;
}

const PATH_EXAMPLES: Record<string, string> = { provider: 'openai', index: '0' };
const pathExample = (name: string) =>
  PARAM_PREFIX[name] ? `${PARAM_PREFIX[name]}_${EXAMPLE_ID}` : (PATH_EXAMPLES[name] ?? EXAMPLE_ID);

const isWrite = ({ kind }: Operation) => kind === 'write' || kind === 'claimed';
const domainOf = ({ name }: Operation) => name.split('.')[0]!;

function idempotencyKey(isRequired: boolean): Json {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: isRequired,
    description: 'Required for service keys: new for each new operation, the same for each retry.',
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      examples: ['7d1f5a52-0b0e-4c11-8c67-0f6d5f0a3c11'],
    },
  };
}

/** What the operations have in common, each written once under its name. */
class Components {
  readonly schemas: NamedSchemas;
  readonly parameters: Record<string, Json> = {};
  readonly requestBodies: Json = {};
  readonly responses: Json = {};
  readonly #timesBound = new Map<Operation, number>();

  constructor(routes: Route[]) {
    this.schemas = nameSchemas(routes);
    for (const { operation } of routes)
      this.#timesBound.set(operation, (this.#timesBound.get(operation) ?? 0) + 1);
    const statuses = new Set([...BASE_ERRORS, ...routes.flatMap((r) => r.operation.errors ?? [])]);
    for (const status of statuses) this.responses[`E${status}`] = errorResponse(status);
  }

  /** Parameters of one name differ between domains at most. */
  parameter(operation: Operation, name: string, parameter: Json): Json {
    const text = JSON.stringify(parameter);
    for (const free of [name, `${domainOf(operation)}.${name}`]) {
      this.parameters[free] ??= parameter;
      if (JSON.stringify(this.parameters[free]) === text) return { $ref: `#/components/parameters/${free}` };
    }
    return parameter;
  }

  /** A body or an answer of an operation with several paths. */
  shared(kind: 'requestBodies' | 'responses', operation: Operation, name: string, value: Json): Json {
    if (this.#timesBound.get(operation) === 1) return value;
    this[kind][name] = value;
    return { $ref: `#/components/${kind}/${name}` };
  }
}

/** An answer's schema; undefined where it is given by media types. */
const schemaOf = (answer: Operation['responses'][number]): TSchema | undefined =>
  'content' in answer ? undefined : answer;

/** Names come from answers first: what those show is a resource, whatever bodies have in common with it. */
function nameSchemas(routes: Route[]): NamedSchemas {
  const names = new NamedSchemas();
  const { $id: _, ...error } = ErrorBody as unknown as Json;
  names.name('Error', error);
  for (const [name, schema] of Object.entries({ Time, Sha256, Counter, Micros }))
    names.name(name, schema as unknown as Json);
  const operations = [...new Set(routes.map(({ operation }) => operation))];
  for (const operation of operations)
    for (const answer of Object.values(operation.responses))
      names.nameResources(domainOf(operation), (schemaOf(answer) ?? {}) as unknown as Json);
  names.nameSharedParts(
    operations.flatMap(({ name, body }) => {
      const operationName = capitalized(name.split('.')[1]!);
      return body ? [{ name: `${operationName}Body`, schema: body as unknown as Json }] : [];
    }),
  );
  return names;
}

function parameters({ path, operation }: Route, components: Components): Json[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) =>
    components.parameter(operation, name!, {
      name,
      in: 'path',
      required: true,
      schema: { type: 'string', examples: [pathExample(name!)] },
    }),
  );
  const query: { properties?: Record<string, TSchema>; required?: string[] } | undefined = operation.query;
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) =>
    components.parameter(operation, `query.${name}`, {
      name,
      in: 'query',
      required: query?.required?.includes(name) ?? false,
      schema: components.schemas.refer(schema as unknown as Json),
    }),
  );
  if (!isWrite(operation)) return [...inPath, ...inQuery];
  const key = idempotencyKey(path.startsWith('/api/service-accounts'));
  const keyName = key.required ? 'Idempotency-Key.required' : 'Idempotency-Key';
  return [...inPath, ...inQuery, components.parameter(operation, keyName, key)];
}

const media = (schema: TSchema, { schemas }: Components): Json => ({
  'application/json': { schema: schemas.refer(schema as unknown as Json), example: exampleOf(schema) },
});

function requestBody(operation: Operation, components: Components): Json | undefined {
  if (!operation.body) return undefined;
  const { required: fields = [], anyOf } = operation.body as { required?: string[]; anyOf?: unknown };
  const required = fields.length > 0 || anyOf !== undefined;
  const content = media(operation.body, components);
  for (const type of operation.rawBody ?? [])
    if (type !== 'application/json') content[type] = { schema: { type: 'string', contentMediaType: type } };
  return components.shared('requestBodies', operation, operation.name, { required, content });
}

/** Of a media type that is no JSON: its schema may still have named parts. */
function contentOf(content: Record<string, unknown>, { schemas }: Components): Json {
  return Object.fromEntries(
    Object.entries(content as Record<string, Json>).map(([type, one]) => [
      type,
      one.schema ? { ...one, schema: schemas.refer(one.schema as Json) } : one,
    ]),
  );
}

function responses(operation: Operation, components: Components): Json {
  const answers: Json = {};
  for (const [status, answer] of Object.entries(operation.responses)) {
    const schema = schemaOf(answer);
    const description =
      ('description' in answer && typeof answer.description === 'string' ? answer.description : undefined) ??
      (Number(status) === 202 ? 'Accepted; the work continues' : 'Success');
    answers[status] = components.shared('responses', operation, `${operation.name}.${status}`, {
      description,
      headers: referTo(HEADERS, isWrite(operation) ? RECEIPT_HEADERS : {}),
      content: schema
        ? media(schema, components)
        : contentOf((answer as { content: Json }).content, components),
    });
  }
  const isPublic = operation.access === 'public' && operation.kind === 'read';
  for (const status of [...(isPublic ? [400, 404, 429, 500, 503] : BASE_ERRORS), ...(operation.errors ?? [])])
    answers[status] = { $ref: `#/components/responses/E${status}` };
  return answers;
}

/** A body of the first code that has this status. */
function errorExample(status: number): Json {
  const [code] = Object.entries(CODES).find(([, one]) => one === status)!;
  const {
    error: { message: _, code: __, fields, requestId },
  } = exampleOf(ErrorBody) as { error: Json };
  return {
    ok: false,
    error: { code, message: `${STATUS[status]}.`, requestId, ...(status === 400 ? { fields } : {}) },
  };
}

function errorResponse(status: number): Json {
  return {
    description: STATUS[status] ?? 'Error',
    headers: referTo(HEADERS, [429, 503].includes(status) ? RETRY_HEADERS : {}),
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Error' }, example: errorExample(status) },
    },
  };
}

/** Tells the further paths of an operation apart from its first. */
const FURTHER: Record<string, string> = { byProject: ' (project path)', direct: ' (Direct path)' };

/** The whole document, in the order of the routes. */
export function openapiDocument(routes: Route[], version: string): Json {
  const paths: Record<string, Json> = {};
  const components = new Components(routes);
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const { operation } = route;
    const body = requestBody(operation, components);
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: {
        operationId: route.operationId,
        tags: [domainOf(operation)],
        summary: operation.summary + (FURTHER[route.operationId.split('.')[2] ?? ''] ?? ''),
        description: [operation.description, permissionText(operation.access)].filter(Boolean).join('\n\n'),
        security: security(operation.access),
        parameters: parameters(route, components),
        ...(body ? { requestBody: body } : {}),
        responses: responses(operation, components),
      },
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Headrace',
      version,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      description:
        'Apps, immutable sources, coding-agent threads, a serialized merge queue, builds, and one durable, replayable event log.',
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: [...new Set(routes.map((r) => r.operation.name.split('.')[0]!))].map((name) => ({
      name,
      description: `Operations of the domain ${name}`,
    })),
    paths,
    components: {
      securitySchemes: {
        serviceKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'A service key. Keep it on your backend.',
        },
        bearerKey: { type: 'http', scheme: 'bearer', description: 'The same service key as a bearer token.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'headrace_session',
          description: 'A browser session; see POST /api/auth/sign-in/email.',
        },
      },
      headers: ALL_HEADERS,
      parameters: components.parameters,
      requestBodies: components.requestBodies,
      schemas: components.schemas.document(),
      responses: components.responses,
    },
  };
}
