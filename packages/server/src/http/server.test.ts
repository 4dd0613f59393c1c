import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeServiceKey } from '../accounts/index.ts';
import { newAccount, signedIn } from '../accounts/callers.fixture.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';

const P = '/api/platform/v1';
let s: TestServer;
let cookie: string;
let app: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  cookie = await signedIn(s);
  app = (await s.call('POST', `${P}/apps`, { name: 'n' })).body.app.id;
});
afterAll(async () => {
  await s?.close();
});

const told = (answer: TestAnswer) => `${answer.status} ${answer.body?.error?.code}`;
const paths = (answer: TestAnswer) =>
  (answer.body.error.fields as { path: string }[]).map((f) => f.path).sort();
const raw = (body: string | Buffer | undefined, headers: Record<string, string> = {}, path = `${P}/apps`) =>
  s.call('POST', path, body, { headers: { 'content-type': 'application/json', ...headers } });

describe('refusals come in this order', () => {
  test('route, credential, permission and app scope, schema, resource, state', async () => {
    const reader = (await newAccount(s, cookie, { permissions: { project: ['read'] } })).key;
    const elsewhere = (await newAccount(s, cookie, { projectIds: [newId('prj')] })).key;
    const wrong = { unexpected: 1 };
    const target = `${P}/apps/${newId('prj')}`;
    for (const [expected, answer] of [
      ['404 not_found', await s.call('POST', '/api/nonsense?odd=1', wrong, { key: null })],
      ['405 method_not_allowed', await s.call('PUT', target, wrong, { key: null })],
      ['401 unauthorized', await s.call('PATCH', `${target}?odd=1`, wrong, { key: null })],
      ['403 forbidden', await s.call('PATCH', `${target}?odd=1`, wrong, { key: reader })],
      [
        '403 forbidden',
        await s.call('PATCH', target, 'x', { key: elsewhere, headers: { 'content-type': 'text/plain' } }),
      ],
      [
        '415 unsupported_media_type',
        await s.call('PATCH', target, 'x', { headers: { 'content-type': 'text/plain' } }),
      ],
      ['400 invalid_request', await s.call('PATCH', target, wrong)],
      ['404 app_not_found', await s.call('PATCH', target, { expectedVersion: 99 })],
      ['409 version_conflict', await s.call('PATCH', `${P}/apps/${app}`, { expectedVersion: 99 })],
    ] as const)
      expect(told(answer)).toBe(expected);
  });

  test('the rate limit goes before all of them', async () => {
    const limited = await startTestServer({
      HEADRACE_ROLES: 'api',
      HEADRACE_RATE_LIMIT: '3',
      HEADRACE_RATE_WINDOW_SECONDS: '3600',
    });
    try {
      const get = (path: string, key: string | null = limited.key) =>
        limited.call('GET', path, undefined, { key });
      const counted = [
        await get('/api/projects'),
        await get('/api/projects/none'),
        await get('/api/nonsense'),
      ];
      expect(counted.map((a) => [a.status, a.headers.get('x-ratelimit-remaining')])).toEqual([
        [200, '2'],
        [404, '1'],
        [404, '0'],
      ]);
      for (const path of ['/api/projects', '/api/nonsense', '/docs/openapi.json']) {
        const answer = await get(path);
        expect([
          told(answer),
          answer.headers.get('retry-after'),
          answer.headers.get('x-retry-after'),
        ]).toEqual([
          '429 rate_limited',
          expect.stringMatching(/^3[56]\d\d$/),
          answer.headers.get('retry-after'),
        ]);
      }
      // Another bucket, by address; health does not count.
      expect((await get('/api/projects', null)).headers.get('x-ratelimit-remaining')).toBe('2');
      for (let i = 0; i < 5; i++) expect((await get('/health')).status).toBe(200);
      expect((await get('/api/projects', makeServiceKey())).headers.get('x-ratelimit-remaining')).toBe('1');
    } finally {
      await limited.close();
    }
  });
});

describe('the address of a caller', () => {
  const remaining = async (server: TestServer, forwarded: string) =>
    Number(
      (
        await server.call('GET', '/api/projects', undefined, {
          key: null,
          headers: { 'x-forwarded-for': forwarded },
        })
      ).headers.get('x-ratelimit-remaining'),
    );

  test("is the connection's, whatever it claims", async () => {
    const first = await remaining(s, '203.0.113.1');
    expect(await remaining(s, '203.0.113.2')).toBe(first - 1);
  });

  test('is what a trusted proxy says', async () => {
    const proxied = await startTestServer({
      HEADRACE_ROLES: 'api',
      HEADRACE_TRUSTED_PROXIES: '127.0.0.0/8,::1',
      HEADRACE_RATE_LIMIT: '50',
    });
    try {
      expect([
        await remaining(proxied, '203.0.113.1'),
        await remaining(proxied, '203.0.113.1'),
        await remaining(proxied, '203.0.113.2'),
      ]).toEqual([49, 48, 49]);
      // Only the nearest that is no proxy of ours: a client may write anything before it.
      expect(await remaining(proxied, '198.51.100.7, 203.0.113.2')).toBe(48);
    } finally {
      await proxied.close();
    }
  });
});

describe('while the rate limiter is away', () => {
  test('every answer is 503 at once, with nothing remaining; health says which part it is', async () => {
    const own = await startTestServer({ HEADRACE_ROLES: 'api' });
    const { db } = own.service.ctx;
    try {
      expect((await own.call('GET', '/api/projects')).status).toBe(200);
      await sql`alter table rate_windows rename to rate_windows_away`.execute(db);
      await own.call('GET', '/api/projects', undefined, { key: null });
      const from = performance.now();
      for (const [method, path, key] of [
        ['GET', '/api/projects', own.key],
        ['POST', '/api/projects', own.key],
        ['GET', '/api/nonsense', null],
        ['GET', `${P}/events/stream`, own.key],
        ['GET', '/docs/openapi.json', null],
      ] as const) {
        const answer = await own.call(method, path, method === 'POST' ? { name: 'n' } : undefined, { key });
        expect(
          [
            told(answer),
            answer.headers.get('ratelimit'),
            answer.headers.get('x-ratelimit-remaining'),
            answer.headers.get('retry-after'),
            answer.headers.get('x-retry-after'),
          ],
          path,
        ).toEqual(['503 unavailable', '"ingress";r=0;t=1', '0', '1', '1']);
      }
      expect(performance.now() - from).toBeLessThan(3_000);
      const ready = await own.call('GET', '/health/ready', undefined, { key: null });
      expect([ready.status, ready.body.error.failing]).toEqual([503, ['rate limiter']]);
      expect((await own.call('GET', '/health', undefined, { key: null })).status).toBe(200);
      await sql`alter table rate_windows_away rename to rate_windows`.execute(db);
      await expect
        .poll(async () => (await own.call('GET', '/api/projects')).status, { timeout: 3_000, interval: 20 })
        .toBe(200);
    } finally {
      await own.close();
    }
  });

  test('also where the database hangs: a lock that nobody gives back', async () => {
    const own = await startTestServer({ HEADRACE_ROLES: 'api' });
    const holder = new pg.Client(own.service.ctx.config.databaseUrl!);
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('lock table rate_windows in access exclusive mode');
      const from = performance.now();
      expect(told(await own.call('GET', '/api/projects'))).toBe('503 unavailable');
      expect(performance.now() - from).toBeLessThan(5_000);
    } finally {
      await holder.end();
      await own.close();
    }
  });
});

describe('routes', () => {
  test('an unknown path is 404 for every method, also below and beside known ones', async () => {
    for (const path of [
      '/api',
      '/api/nonsense',
      `${P}/apps/${app}/nonsense`,
      '/api/platform/v2/apps',
      '/API/projects',
      '//api/projects',
      '/api/%zz',
    ]) {
      for (const method of ['GET', 'POST', 'DELETE'])
        expect(told(await s.call(method, path, method === 'GET' ? undefined : {})), `${method} ${path}`).toBe(
          '404 not_found',
        );
    }
  });

  test('a method that a path does not have is 405 with Allow', async () => {
    for (const [method, path, allow] of [
      ['PUT', `${P}/apps`, 'POST, GET, HEAD'],
      ['POST', `${P}/projects/${app}`, 'GET, HEAD, PATCH, DELETE'],
      ['DELETE', `/api/threads/${newId('thr')}/exec`, 'POST'],
      ['POST', '/health', 'GET, HEAD'],
      ['OPTIONS', '/api/projects', 'POST, GET, HEAD'],
    ] as const) {
      const answer = await s.call(method, path, undefined, { key: null });
      expect([told(answer), answer.headers.get('allow')]).toEqual(['405 method_not_allowed', allow]);
    }
  });
});

describe('bodies', () => {
  test('all faults of a body and its query are told together', async () => {
    const answer = await s.call('POST', `${P}/apps?odd=1&limit=2`, {
      name: '',
      metadata: { a: 1 },
      moon: 1,
      'a/b': 2,
    });
    expect([told(answer), paths(answer)]).toEqual([
      '400 invalid_request',
      ['/a~1b', '/metadata/a', '/moon', '/name', '/query/limit', '/query/odd'],
    ]);
    expect(paths(await s.call('GET', '/api/projects?limit=0&odd=1&cursor='))).toEqual([
      '/query/cursor',
      '/query/limit',
      '/query/odd',
    ]);
  });

  test('what is no JSON object in UTF-8 is 400', async () => {
    for (const body of [
      '{',
      '{"name":"x",}',
      '{"name":"x"}}',
      'null',
      '[]',
      '"x"',
      '1',
      ' ',
      '\u{feff}{"name":"x"}',
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      '['.repeat(100_000),
    ])
      expect(told(await raw(body)), String(body).slice(0, 20)).toBe('400 invalid_request');
  });

  test('a member given twice, NUL and a lone surrogate are told by their place', async () => {
    expect(paths(await raw('{"name":"a","metadata":{"k":"v","k":"w"},"name":"b"}'))).toEqual([
      '/metadata/k',
      '/name',
    ]);
    expect(paths(await raw('{"name":"a\\u0000b"}'))).toEqual(['/name']);
    expect(paths(await raw('{"metadata":{"k":"\\ud800"},"name":"n"}'))).toEqual(['/metadata/k']);
  });

  test('no body, an empty one and {} are alike where no field is required', async () => {
    const thread = async () => {
      const project = (await s.call('POST', '/api/projects', { name: 'n' })).body.project.id as string;
      return (await s.call('POST', '/api/threads', { projectId: project })).body.thread.id as string;
    };
    const id = await thread();
    for (const body of [undefined, '', {}])
      expect((await s.call('PATCH', `/api/threads/${id}`, body)).status).toBe(200);
    expect(told(await s.call('POST', `${P}/apps`))).toBe('400 invalid_request');
  });

  test('another content type or none is 415', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'application/json2',
      'multipart/form-data; boundary=x',
    ])
      expect(told(await raw('{"name":"n"}', { 'content-type': type })), type).toBe(
        '415 unsupported_media_type',
      );
    expect(told(await exchange('POST', `${P}/apps`, { 'content-length': '12' }, '{"name":"n"}'))).toBe(
      '415 unsupported_media_type',
    );
    for (const type of ['application/json', 'Application/JSON; charset=utf-8'])
      expect((await raw('{"name":"n"}', { 'content-type': type })).status).toBe(201);
  });

  test('one that says it is over 64 MiB is 413 before a byte of it is read', async () => {
    const answer = await exchange('POST', `${P}/apps`, {
      'content-type': 'application/json',
      'content-length': String(64 * 1024 * 1024 + 1),
    });
    expect([told(answer), answer.headers.get('x-request-id')]).toEqual(['413 request_too_large', 'mine']);
    // A caller who may not write learns nothing of the limit.
    expect(
      told(
        await exchange('POST', `${P}/apps`, {
          'content-type': 'application/json',
          'content-length': String(2 ** 31),
          'x-api-key': makeServiceKey(),
        }),
      ),
    ).toBe('401 unauthorized');
  });
});

describe('every kind of answer', () => {
  test("has the rate limit's headers and its request id", async () => {
    const answers: [number, TestAnswer][] = [
      [200, await s.call('GET', '/api/projects')],
      [201, await s.call('POST', '/api/projects', { name: 'n' })],
      [400, await s.call('GET', '/api/projects?odd=1')],
      [401, await s.call('GET', '/api/projects', undefined, { key: null })],
      [403, await s.call('POST', '/api/projects', {}, { key: null, headers: { cookie } })],
      [404, await s.call('GET', '/api/nonsense')],
      [404, await s.call('GET', `/api/projects/${newId('prj')}`)],
      [405, await s.call('PUT', '/api/projects')],
      [409, await s.call('GET', `${P}/apps/${app}/source-head`)],
      [415, await raw('x', { 'content-type': 'text/plain' })],
      [
        413,
        await exchange('POST', `${P}/apps`, {
          'content-type': 'application/json',
          'content-length': '99999999',
        }),
      ],
      [200, await s.call('GET', '/health')],
      [200, await s.call('GET', '/health/ready')],
      [200, await s.call('GET', '/docs/openapi.json', undefined, { key: null })],
      [308, await s.call('GET', '/openapi.json', undefined, { key: null })],
      [431, await exchange('GET', '/api/projects', { 'x-large': 'x'.repeat(70_000) })],
      [400, await bare('GET /api projects HTTP/9.9\r\nno header')],
      [400, await bare('GET /health HTTP/1.1\r\nconnection: close')],
      [200, await exchange('GET', '/api/projects', { expect: 'the-unexpected' })],
    ];
    for (const [status, answer] of answers) {
      expect(answer.status).toBe(status);
      const header = (name: string) => answer.headers.get(name) ?? '';
      expect(header('ratelimit'), String(status)).toMatch(/^"ingress";r=\d+;t=\d+$/);
      expect(header('ratelimit-policy')).toBe('"ingress";q=1000000;qu="requests";w=60');
      expect([
        header('x-ratelimit-limit'),
        header('x-ratelimit-remaining'),
        header('x-ratelimit-reset'),
      ]).toEqual(['1000000', expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d{10}$/)]);
      expect(header('x-request-id')).toMatch(/^[\x21-\x7e]{1,128}$/);
      expect([header('retry-after') !== '', header('x-retry-after') !== '']).toEqual(
        status === 503 || status === 429 ? [true, true] : [false, false],
      );
      if (status >= 400)
        expect(answer.body).toMatchObject({
          ok: false,
          error: {
            code: expect.stringMatching(/^[a-z_]+$/),
            message: expect.any(String),
            requestId: header('x-request-id'),
          },
        });
    }
  });

  test('takes over a request id that is visible ASCII, and makes one otherwise', async () => {
    const idOf = async (sent: string) =>
      (await s.call('GET', '/api/projects', undefined, { headers: { 'x-request-id': sent } })).headers.get(
        'x-request-id',
      );
    for (const sent of ['a', '~!{}', randomUUID(), 'x'.repeat(128)]) expect(await idOf(sent)).toBe(sent);
    for (const sent of ['', 'x'.repeat(129), 'a b', 'é']) expect(await idOf(sent)).toMatch(/^[0-9a-f-]{36}$/);
  });
});

/** An exchange that fetch would not make. */
function exchange(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<TestAnswer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      s.base + path,
      {
        method,
        headers: { 'x-api-key': s.key, 'x-request-id': 'mine', 'idempotency-key': randomUUID(), ...headers },
      },
      (response) => {
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (chunk: string) => {
            text += chunk;
          })
          .on('end', () => {
            resolve({
              status: response.statusCode!,
              headers: new Headers(response.headers as Record<string, string>),
              text,
              body: JSON.parse(text),
            });
            sent.destroy();
          });
      },
    );
    sent.on('error', reject);
    if (body !== undefined) sent.end(body);
    else if (headers['content-length']) sent.flushHeaders();
    else sent.end();
  });
}

/** What no client sends. */
function bare(head: string): Promise<TestAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(s.base).port), '127.0.0.1', () => {
      socket.write(`${head}\r\n\r\n`);
    });
    let text = '';
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        text += chunk;
      })
      .on('error', reject)
      .on('close', () => {
        const [head, body] = text.split('\r\n\r\n') as [string, string];
        const [first, ...lines] = head.split('\r\n');
        resolve({
          status: Number(first!.split(' ')[1]),
          headers: new Headers(lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string])),
          text: body,
          body: JSON.parse(body),
        });
      });
  });
}
