import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { OpenApi } from '../generator/document.ts';
import { operationsOf } from '../generator/document.ts';
import { FEEDS, HANDSHAKES, METHODS } from '../generator/names.ts';
import { createClient } from './client.ts';
import { HeadraceError, isCode, UncertainError } from './errors.ts';
import { loopback, refusal, sendJson } from './loopback.fixture.ts';

const document = JSON.parse(
  readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'),
) as OpenApi;
const operations = operationsOf(document);

/** What reaches the service when each operation is called with the ids `1`, `2`, …, by any way that names it. */
async function requestsOf(spelling: 'platform' | 'direct'): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const client = createClient({
    baseUrl: 'http://127.0.0.1:1',
    key: 'hrk_test',
    fetch: (input, init) => {
      seen.set(
        `${init!.method} ${new URL(input as string).pathname}`,
        (init!.headers as Record<string, string>)['idempotency-key'] ?? '',
      );
      return Promise.resolve(Response.json({ ok: true }));
    },
  });
  const ids = ['1', '2', '3', '4'];
  const handles =
    spelling === 'platform'
      ? [{ calls: client, count: 0 }]
      : [
          { calls: client.project('1'), count: 1 },
          { calls: client.thread('1'), count: 1 },
        ];
  for (const { calls, count } of handles)
    for (const [name, resource] of Object.entries(calls) as [string, Record<string, unknown>][]) {
      const methods = typeof resource === 'function' ? { [name]: resource } : resource;
      for (const [method, call] of Object.entries(methods))
        if (
          typeof call === 'function' &&
          !['events', 'operation', 'request', 'app', 'project', 'thread'].includes(name) &&
          !['find', 'follow'].includes(method)
        )
          await (call as (...given: string[]) => Promise<unknown>)(...ids.slice(count)).catch(() => {});
    }
  return seen;
}

/** `/a/{b}/c/{d}` as `/a/1/c/2`. */
const numbered = (path: string) => {
  let n = 0;
  return path.replaceAll(/\{\w+\}/g, () => String(++n));
};

describe('every operation of the document', () => {
  const own = operations.filter(({ id }) => METHODS[id] !== undefined);

  test('has a method, which sends its method, path and key', async () => {
    const seen = await requestsOf('platform');
    for (const { id, spelling, method, path, takesKey } of own) {
      if (spelling !== '') continue;
      const key = seen.get(`${method} ${numbered(path)}`);
      expect(key, `${id}: ${method} ${path}`).toBeDefined();
      expect(key !== '', `${id} has a key`).toBe(takesKey);
    }
  });

  test('that the Direct API has is reached through its project or its thread', async () => {
    const seen = await requestsOf('direct');
    const direct = own.filter(({ spelling }) => spelling === 'direct');
    expect(direct.length).toBeGreaterThan(40);
    for (const { id, method, path } of direct)
      expect(seen.has(`${method} ${numbered(path)}`), `${id}: ${method} ${path}`).toBe(true);
  });

  test('with the other word in its path has the method of the same operation', () => {
    for (const { id, spelling, path } of operations)
      if (spelling === 'byProject') {
        const app = path.replace('/projects/{projectId}', '/apps/{appId}');
        expect(
          operations.some((other) => other.id === id && other.spelling === '' && other.path === app),
          id,
        ).toBe(true);
      }
  });

  test('of a feed is read by events, and a handshake by nobody', () => {
    for (const { id } of operations)
      if (!HANDSHAKES.includes(id)) expect(METHODS[id] ?? FEEDS[id], id).toBeDefined();
  });
});

describe('a request', () => {
  test('sends any method and path, a key of its own for a write, and bytes as they are', async () => {
    await using server = await loopback((response) => sendJson(response, 200, { ok: true }));
    const { client, seen } = server;
    const answer = await client.request('GET', '/api/models', { query: { limit: 1 } });
    expect(await answer.json()).toEqual({ ok: true });
    await client.request('POST', 'api/threads', { body: { a: 1 } });
    const body = new TextEncoder().encode('bytes');
    await client.request('PUT', '@evil.example/', {
      idempotencyKey: 'mine',
      body,
      contentType: 'text/plain',
    });
    await client.operation('job', async (inside) => {
      await inside.request('GET', '/api/models');
      await inside.request('DELETE', '/api/tasks/1');
    });
    expect(
      seen.map(({ method, url, headers, body: sent }) => [method, url, headers['idempotency-key'], sent]),
    ).toEqual([
      ['GET', '/api/models?limit=1', undefined, ''],
      ['POST', '/api/threads', expect.stringMatching(/^[0-9a-f-]{36}$/), '{"a":1}'],
      ['PUT', '/@evil.example/', 'mine', 'bytes'],
      ['GET', '/api/models', undefined, ''],
      ['DELETE', '/api/tasks/1', 'job:request', ''],
    ]);
  });

  test('that is refused throws what the service says', async () => {
    await using server = await loopback((response) => sendJson(response, 404, refusal('task_not_found')));
    await expect(server.client.request('GET', '/api/tasks/1')).rejects.toMatchObject({
      code: 'task_not_found',
    });
  });
});

describe('a call', () => {
  test('is not sent before it is awaited, and once however often it is', async () => {
    await using server = await loopback((response) =>
      sendJson(response, 200, { ok: true, app: { id: 'prj_1' } }),
    );
    const call = server.client.apps.get('prj_1');
    expect(server.seen).toHaveLength(0);
    expect(await call).toEqual({ id: 'prj_1' });
    expect(await call).toEqual({ id: 'prj_1' });
    expect(server.seen).toHaveLength(1);
  });

  test('with its response has the ids that support asks for', async () => {
    await using server = await loopback((response) =>
      sendJson(
        response,
        201,
        { ok: true, app: { id: 'prj_1' } },
        {
          'x-request-id': 'req-1',
          'x-operation-id': 'op_1',
          'idempotent-replayed': 'true',
          'x-ratelimit-limit': '600',
          'x-ratelimit-remaining': '599',
          'x-ratelimit-reset': '1790000000',
        },
      ),
    );
    expect(await server.client.apps.create({ name: 'Shop' }).withResponse()).toEqual({
      data: { id: 'prj_1' },
      response: {
        status: 201,
        requestId: 'req-1',
        operationId: 'op_1',
        replayed: true,
        rateLimit: { limit: 600, remaining: 599, resetAt: new Date(1_790_000_000_000) },
      },
    });
  });

  test('for text has text', async () => {
    await using server = await loopback((response, { url }) => {
      if (url.endsWith('?format=markdown'))
        response.writeHead(200, { 'content-type': 'text/markdown; charset=utf-8' }).end('# Shop');
      else sendJson(response, 200, { ok: true, export: { formatVersion: 1 } });
    });
    const markdown: string = await server.client.threads.export('thr_1', { format: 'markdown' });
    expect(markdown).toBe('# Shop');
    expect((await server.client.threads.export('thr_1')).formatVersion).toBe(1);
  });

  test('without one of its ids is refused before anything is sent', async () => {
    await using server = await loopback((response) => sendJson(response, 200, { ok: true }));
    expect(() => server.client.apps.delete(undefined as never)).toThrow('apps.delete: id 1 must be a string');
    expect(() => server.client.sources.get('prj_1', '')).toThrow(TypeError);
    expect(server.seen).toHaveLength(0);
  });

  test('that reads unfinished work can wait for its end', async () => {
    const execution = { id: 'exe_1', automationId: 'aut_1', payload: null };
    await using server = await loopback((response, _, number) =>
      sendJson(response, 200, {
        ok: true,
        execution: { ...execution, status: number < 3 ? 'running' : 'completed' },
      }),
    );
    const ended = await server.client.automations.execution('aut_1', 'exe_1').done();
    expect([ended.status, ended.payload]).toEqual(['completed', null]);
    const path = '/api/automations/aut_1/executions/exe_1';
    const waiting = `${path}?waitSeconds=25`;
    expect(server.seen.map(({ url }) => url)).toEqual([path, waiting, waiting]);
  });

  test('ends when its signal does, also while it waits for another attempt', async () => {
    await using server = await loopback((response) =>
      sendJson(response, 503, refusal('unavailable'), { 'retry-after': '30' }),
    );
    const abort = new AbortController();
    const call = server.client.apps.get('prj_1', { signal: abort.signal }).catch((error: unknown) => error);
    await expect.poll(() => server.seen.length).toBe(1);
    abort.abort(new Error('enough'));
    expect(await call).toMatchObject({ message: 'enough' });
  });
});

describe('a list', () => {
  test('is a page when awaited, and all pages when iterated', async () => {
    await using server = await loopback((response, { url }) => {
      const cursor = new URL(url, 'http://x').searchParams.get('cursor');
      const page =
        cursor === null
          ? { apps: [1, 2], nextCursor: 'c', hasMore: true }
          : { apps: [3], nextCursor: null, hasMore: false };
      sendJson(response, 200, { ok: true, ...page });
    });
    const list = server.client.apps.list({ limit: 2, externalId: 'u' });
    expect(await list).toEqual({ items: [1, 2], nextCursor: 'c', hasMore: true });
    const all: unknown[] = [];
    for await (const app of list) all.push(app);
    expect(all).toEqual([1, 2, 3]);
    expect(server.seen.map(({ url }) => url)).toEqual([
      '/api/platform/v1/apps?limit=2&externalId=u',
      '/api/platform/v1/apps?limit=2&externalId=u&cursor=c',
    ]);
  });
});

test('a page has what else its answer says', async () => {
  await using server = await loopback((response) => {
    const skipped = { binary: 1, tooLarge: 0 };
    sendJson(response, 200, { ok: true, matches: [], nextCursor: null, hasMore: false, skipped });
  });
  const { items, skipped } = await server.client.sources.search('prj_1', 'src_1', { q: 'a' });
  expect([items, skipped.binary]).toEqual([[], 1]);
});

describe('writes of one operation', () => {
  test('have the same keys whenever it begins again', async () => {
    await using server = await loopback((response) =>
      sendJson(response, 201, { ok: true, app: { id: 'prj_1' } }),
    );
    const work = () =>
      server.client.operation('order-7', async (client) => {
        await client.apps.create({ name: 'A' });
        await client.apps.get('prj_1');
        await client.apps.update('prj_1', { name: 'B' });
        await client.app('prj_1').update({ name: 'C' }, { idempotencyKey: 'own' });
        await client.app('prj_1').update({ name: 'D' });
      });
    await work();
    await work();
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([
      'order-7:apps.create',
      undefined,
      'order-7:apps.update',
      'own',
      'order-7:apps.update:2',
      'order-7:apps.create',
      undefined,
      'order-7:apps.update',
      'own',
      'order-7:apps.update:2',
    ]);
  });
});

describe('a write that was never answered', () => {
  test('is uncertain, and its receipt can be asked for', async () => {
    const operation = { id: 'op_1', status: 'succeeded' };
    await using server = await loopback((response, { method }) => {
      if (method === 'POST') response.destroy();
      else sendJson(response, 200, { ok: true, operations: [operation] });
    });
    const error = await server.client.apps
      .create({ name: 'A' }, { idempotencyKey: 'k 1', timeoutMs: 300 })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UncertainError);
    expect(error).toMatchObject({ code: 'network_error', idempotencyKey: 'k 1', retryable: true });
    expect(await (error as UncertainError).recheck()).toEqual(operation);
    expect(server.seen.at(-1)!.url).toBe('/api/operations?idempotencyKey=k+1');
  });

  test('but refused is not', async () => {
    await using server = await loopback((response) =>
      sendJson(response, 409, refusal('stale_head', { headSourceId: 'src_2' })),
    );
    const error = await server.client.apps.create({ name: 'A' }).catch((thrown: unknown) => thrown);
    expect(error).not.toBeInstanceOf(UncertainError);
    expect(isCode(error, 'stale_head') && error.details['headSourceId']).toBe('src_2');
    expect(isCode(error, 'stale_source')).toBe(false);
  });
});

describe('what cannot be a client', () => {
  const baseUrl = 'https://headrace.example.com';

  test.each([
    [{ key: 'k' }, 'baseUrl must be the address'],
    [{ baseUrl: 'headrace.example.com', key: 'k' }, 'baseUrl must be the address'],
    [{ baseUrl: 'ftp://example.com', key: 'k' }, 'baseUrl must be the address'],
    [{ baseUrl }, 'one of key, token and session'],
    [{ baseUrl, key: 'k', token: 't' }, 'one of key, token and session'],
  ])('%j is refused', (options, message) => {
    expect(() => createClient(options)).toThrow(message);
  });

  test('a redirect is not followed', async () => {
    await using server = await loopback((response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    );
    await expect(server.client.apps.get('prj_1')).rejects.toMatchObject({
      status: 302,
      code: 'invalid_response',
    });
    expect(server.seen).toHaveLength(1);
  });

  test('an answer that is not JSON is shown, cut', async () => {
    await using server = await loopback((response) =>
      response.writeHead(200).end(`<html>${'x'.repeat(1000)}`),
    );
    const error = await server.client.apps.get('prj_1').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 200, code: 'invalid_response' });
    expect((error as HeadraceError).message).toHaveLength(
      'The answer 200 is not from Headrace: '.length + 200,
    );
  });
});
