/** Each string that a request may have, at its longest: whatever it is answered, it breaks nothing. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { routes } from './app.ts';
import { exampleOf } from './http/example.ts';
import type { Operation, Route } from './http/operation.ts';
import { LONGEST_MATCHED } from './http/validate.ts';
import { signedIn } from './accounts/callers.fixture.ts';
import { startTestServer } from './service.fixture.ts';
import type { TestServer } from './service.fixture.ts';

/** Where a schema sets no end. */
const UNBOUNDED = 5 * 1024 * 1024;

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  maxLength?: number;
  pattern?: string;
  contentEncoding?: string;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  propertyNames?: Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}
interface Place {
  at: (string | number)[];
  schema: Schema;
}

/** What keeps an operation from asking another host. */
const INWARD: Record<string, object> = { 'scm.createInstallation': { baseUrl: 'https://127.0.0.1' } };

/** The strings in a schema that are free, and where each is in a value. */
function strings(schema: Schema, at: (string | number)[] = []): Place[] {
  const isFree = [schema.type].flat().includes('string') && !schema.enum && !('const' in schema);
  const named = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const any = Object.values(schema.patternProperties ?? {}).concat(named ?? []);
  return [
    ...(isFree ? [{ at, schema }] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => strings(one, [...at, name])),
    ...any.flatMap((one) => strings(one, [...at, 'name'])),
    ...(schema.items ? strings(schema.items, [...at, 0]) : []),
    ...(schema.anyOf ?? schema.oneOf ?? []).flatMap((one) => strings(one, at)),
  ];
}

/** `value` with `text` at that place; what is missing on the way is made from its schema's example. */
function withText(value: unknown, [step, ...rest]: (string | number)[], text: string): unknown {
  if (step === undefined) return text;
  if (typeof step === 'number') return [withText((value as unknown[] | undefined)?.[0], rest, text)];
  const object = value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
  return { ...object, [step]: withText(object[step], rest, text) };
}

const longest = ({ maxLength = UNBOUNDED, contentEncoding }: Schema) =>
  contentEncoding === 'base64' ? 'QUFB'.repeat(Math.floor(maxLength / 4)) : 'a'.repeat(maxLength);

const operations = [...new Map(routes.map((route) => [route.operation, route] as const)).values()];
const of = (schema: Operation['body']) => (schema ? strings(schema) : []);

let s: TestServer;
let cookie: string;
let ids: Record<string, string>;
beforeAll(async () => {
  s = await startTestServer();
  cookie = await signedIn(s);
  const app = (await s.call('POST', '/api/platform/v1/apps', { name: 'n' })).body.app.id as string;
  const p = `/api/platform/v1/apps/${app}`;
  const source = await s.call('POST', `${p}/sources`, { files: [{ path: 'a', content: 'b' }] });
  const sourceId = source.body.source.id as string;
  await s.call('POST', `${p}/source-head/initialize`, { sourceId });
  const thread = await s.call('POST', `${p}/threads`, {});
  ids = { appId: app, projectId: app, sourceId, threadId: thread.body.thread.id as string };
});
afterAll(async () => {
  await s?.close();
});

async function send({ method, path, operation }: Route, body: unknown, query = ''): Promise<string[]> {
  const url = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? 'openai');
  const { access } = operation;
  const isKeyed = typeof access === 'object' && 'permissions' in access;
  const answer = await s.call(method, url + query, body, {
    idem: randomUUID(),
    ...(isKeyed ? {} : { cookie }),
  });
  return answer.status < 500 ? [] : [`${operation.name} ${answer.status} ${answer.text.slice(0, 200)}`];
}

/** Hundreds of requests, one after the other: most of a minute on a busy machine. */
const LIMIT_MS = 120_000;

test('in bodies', { timeout: LIMIT_MS }, async () => {
  const wrong: string[] = [];
  let sent = 0;
  for (const route of operations)
    for (const { at, schema } of of(route.operation.body)) {
      sent++;
      const example = { ...(exampleOf(route.operation.body!) as object), ...INWARD[route.operation.name] };
      const body = withText(example, at, longest(schema));
      wrong.push(...(await send(route, body)).map((what) => `${at.join('/')} of ${what}`));
    }
  expect(wrong).toEqual([]);
  expect(sent).toBeGreaterThan(60);
});

test('in queries', { timeout: LIMIT_MS }, async () => {
  const wrong: string[] = [];
  for (const route of operations.filter(({ operation }) => !operation.name.includes('.stream')))
    for (const { at, schema } of of(route.operation.query)) {
      const text = longest({ ...schema, maxLength: Math.min(schema.maxLength ?? UNBOUNDED, 30_000) });
      wrong.push(...(await send(route, undefined, `?${String(at[0])}=${text}`)));
    }
  expect(wrong).toEqual([]);
});

test('no pattern is meant for a text that is longer than patterns are run over', () => {
  const places = operations.flatMap(({ operation }) =>
    [...of(operation.body), ...of(operation.query)].map((place) => ({ ...place, name: operation.name })),
  );
  expect(
    places
      .filter(({ schema }) => schema.pattern !== undefined && (schema.maxLength ?? 0) > LONGEST_MATCHED)
      .map(({ name, at }) => `${name} ${at.join('/')}`),
  ).toEqual([]);
});
