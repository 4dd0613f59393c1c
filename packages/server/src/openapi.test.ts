import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { routes } from './app.ts';
import { VERSION } from './boot.ts';
import { CODES } from './http/errors.ts';
import { openapiDocument } from './http/openapi.ts';

interface Media {
  schema: unknown;
  example?: unknown;
}
interface Response {
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
}
interface Described {
  operationId: string;
  summary?: string;
  description?: string;
  tags: string[];
  parameters: { name: string; in: string; schema: { examples?: unknown[] } }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response>;
}

/** What a reference into the document names; the value itself where it is none. */
function resolve<T>(value: T): T {
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return value;
  const named = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], document);
  return resolve(named as T);
}

const document = openapiDocument(routes, VERSION) as {
  paths: Record<string, Record<string, Described>>;
  components: { responses: Record<string, Response>; schemas: Record<string, unknown> };
};
const all = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method,
    operation: {
      ...operation,
      parameters: operation.parameters.map(resolve),
      ...(operation.requestBody ? { requestBody: resolve(operation.requestBody) } : {}),
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [status, resolve(response)]),
      ),
    },
    route: routes.find((r) => r.operationId === operation.operationId)!,
  })),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('date-time', (text: string) => !Number.isNaN(Date.parse(text)));
ajv.addFormat('uri', (text: string) => URL.canParse(text));
ajv.addFormat('email', /@/);
ajv.addSchema(document, 'document');

/** What `value` breaks of a schema of the document. */
function breaks(schema: unknown, value: unknown): string[] {
  const validate = ajv.compile(
    JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')) as object,
  );
  return validate(value) ? [] : validate.errors!.map((e) => `${e.instancePath || '/'} ${e.message}`);
}

/** What a check says of each operation that it does not like. */
const complaints = (check: (one: (typeof all)[number]) => string[]) =>
  all.flatMap((one) => check(one).map((what) => `${one.operation.operationId}: ${what}`));

test('openapi.json is what the code says', () => {
  const text = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
  expect(
    text === `${JSON.stringify(document, null, 2)}\n`,
    'openapi.json is stale. Run: npm run openapi',
  ).toBe(true);
});

test('each route is in the document, and nothing else', () => {
  expect(all.map(({ operation }) => operation.operationId).sort()).toEqual(
    routes.map((r) => r.operationId).sort(),
  );
  expect(new Set(all.map(({ operation }) => operation.operationId)).size).toBe(routes.length);
});

test('each operation is described: summary, permission, parameters of its path', () => {
  expect(
    complaints(({ operation, path, route }) => {
      const { access } = route.operation;
      const named = typeof access === 'object' && 'permissions' in access ? access.permissions : [];
      const inPath = operation.parameters.filter((p) => p.in === 'path').map((p) => `{${p.name}}`);
      return [
        ...(/^[A-Z].{5,}[^.]$/.test(operation.summary ?? '') ? [] : [`summary ${operation.summary}`]),
        ...(/Permission: |Needs a browser session|Needs no credential\./.test(operation.description ?? '')
          ? []
          : ['no permission']),
        ...named.filter((permission) => !operation.description!.includes(`\`${permission}\``)),
        ...(operation.tags.join() === operation.operationId.split('.')[0] ? [] : ['tags']),
        ...(inPath.join() === (path.match(/\{\w+\}/g) ?? []).join() ? [] : ['path parameters']),
      ];
    }),
  ).toEqual([]);
});

test('each operation names what may go wrong, in the one error shape', () => {
  expect(
    complaints(({ operation, route }) => {
      const needed =
        route.operation.access === 'public' && route.operation.kind === 'read'
          ? [400, 429, 500, 503]
          : [400, 401, 403, 404, 409, 413, 415, 429, 500, 503];
      const errors = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
      return [
        ...needed.filter((status) => !operation.responses[status]).map((status) => `no ${status}`),
        ...errors
          .filter(([status]) => !(Object.values(CODES) as number[]).includes(Number(status)))
          .map(([status]) => `${status} has no code`),
        ...errors
          .filter(
            ([, response]) =>
              JSON.stringify(response.content?.['application/json']?.schema) !==
              '{"$ref":"#/components/schemas/Error"}',
          )
          .map(([status]) => `${status} has another shape`),
      ];
    }),
  ).toEqual([]);
});

test('bodies, answers and parameters have examples that fit', () => {
  let checked = 0;
  const fits = (what: string, media: Media | undefined): string[] => {
    if (!media) return [];
    checked++;
    return media.example === undefined
      ? [`${what} has no example`]
      : breaks(media.schema, media.example).map((fault) => `${what} ${fault}`);
  };
  expect(
    complaints(({ operation }) => [
      ...fits('body', operation.requestBody?.content['application/json']),
      ...Object.entries(operation.responses)
        .filter(([status]) => Number(status) < 300)
        .flatMap(([status, response]) => fits(status, response.content?.['application/json'])),
      ...operation.parameters.flatMap(({ name, schema }) =>
        (resolve(schema).examples ?? []).flatMap((example) =>
          breaks(schema, example).map((fault) => `${name} ${fault}`),
        ),
      ),
    ]),
  ).toEqual([]);
  expect(checked).toBeGreaterThan(routes.length);
});

test('answers have the headers that all carry, writes their receipt, retries their delay', () => {
  expect(
    complaints(({ operation, route }) =>
      Object.entries(operation.responses).flatMap(([status, response]) => {
        const headers = Object.keys(response.headers ?? {});
        const isWrite = ['write', 'claimed'].includes(route.operation.kind);
        return [
          ...[
            'RateLimit',
            'RateLimit-Policy',
            'X-RateLimit-Limit',
            'X-RateLimit-Remaining',
            'X-RateLimit-Reset',
            'x-request-id',
            'x-headrace-version',
          ]
            .filter((name) => !headers.includes(name))
            .map((name) => `${status} without ${name}`),
          ...(headers.includes('Retry-After') === ['429', '503'].includes(status)
            ? []
            : [`${status} Retry-After`]),
          ...(Number(status) < 300 && headers.includes('x-operation-id') !== isWrite
            ? [`${status} x-operation-id`]
            : []),
        ];
      }),
    ),
  ).toEqual([]);
});

test('the example of each error has a code of its status', () => {
  const errors = Object.entries(document.components.responses).filter(([name]) => /^E\d+$/.test(name));
  expect(errors.length).toBeGreaterThan(10);
  for (const [name, response] of errors) {
    const { schema, example } = response.content!['application/json']!;
    expect(breaks(schema, example)).toEqual([]);
    expect(CODES[(example as { error: { code: keyof typeof CODES } }).error.code]).toBe(
      Number(name.slice(1)),
    );
  }
});

test('resources have names of their own', () => {
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining([
      'App',
      'Source',
      'Thread',
      'Message',
      'Run',
      'Apply',
      'Build',
      'Event',
      'Operation',
      'Account',
      'Error',
    ]),
  );
});

test('each named schema is written once, everything else refers to it', () => {
  const named = new Map(
    Object.entries(document.components.schemas).map(([name, schema]) => [JSON.stringify(schema), name]),
  );
  expect(named.size).toBe(Object.keys(document.components.schemas).length);
  const copies: string[] = [];
  const visit = (at: string, value: unknown) => {
    if (value === null || typeof value !== 'object') return;
    const name = named.get(JSON.stringify(value));
    if (name !== undefined && at !== `/components/schemas/${name}`) copies.push(`${name} at ${at}`);
    for (const [key, part] of Object.entries(value)) if (key !== 'example') visit(`${at}/${key}`, part);
  };
  visit('', document);
  expect(copies).toEqual([]);
});

test('an operation with several paths has its body, its answers and its parameters once', () => {
  const paths = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const further = paths.filter(({ operationId }) => operationId.split('.').length === 3);
  expect(further.length).toBeGreaterThan(50);
  for (const { operationId, requestBody, responses, parameters } of further)
    expect([
      operationId,
      ...[requestBody ?? { $ref: '' }, ...Object.values(responses), ...parameters].filter(
        (one) => !('$ref' in one),
      ),
    ]).toEqual([operationId]);
});
