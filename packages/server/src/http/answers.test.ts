/** What is around every answer: its headers, its compression, HEAD, and how large a body may be. */
import { randomUUID } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeServiceKey } from '../accounts/index.ts';
import { signedIn } from '../accounts/callers.fixture.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { sendRaw, wired } from './wire.fixture.ts';
import type { Wired } from './wire.fixture.ts';

const P = '/api/platform/v1';
const KIB = 1024;
let s: TestServer;
let app: string;
let source: string;
let files: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  app = (await s.call('POST', `${P}/apps`, { name: 'n' })).body.app.id;
  const imported = await s.call('POST', `${P}/apps/${app}/sources`, {
    files: [
      ...Array.from({ length: 60 }, (_, i) => ({ path: `folder/file-${i}.txt`, content: `${i}\n` })),
      { path: 'long.txt', content: 'A line that is repeated.\n'.repeat(200) },
    ],
  });
  source = imported.body.source.id;
  files = `${P}/apps/${app}/sources/${source}/files?limit=200`;
});
afterAll(async () => {
  await s?.close();
});

const code = ({ status, bytes }: Wired) => `${status} ${JSON.parse(bytes.toString()).error.code}`;
const json = { 'content-type': 'application/json' };

describe('headers', () => {
  test('every answer names the version, is kept by no cache, and has its own type; errors and streams too', async () => {
    const stream = await fetch(`${s.base}${P}/apps/${app}/events/stream`, {
      headers: { 'x-api-key': s.key },
    });
    await stream.body!.cancel();
    const answers: [string, { get(name: string): string | null }][] = [['stream', stream.headers]];
    for (const [what, method, path, options] of [
      ['read', 'GET', `${P}/apps/${app}`, {}],
      ['archive', 'GET', `${P}/apps/${app}/sources/${source}/archive`, {}],
      [
        'write',
        'POST',
        `${P}/apps`,
        { body: '{"name":"n"}', headers: { ...json, 'idempotency-key': randomUUID() } },
      ],
      ['invalid', 'POST', `${P}/apps`, { body: '{', headers: { ...json, 'idempotency-key': randomUUID() } }],
      ['no key', 'GET', `${P}/apps`, { key: null }],
      ['no route', 'GET', '/api/nonsense', {}],
      ['no url', 'GET', '/api/%zz', {}],
      ['no method', 'PUT', `${P}/apps`, {}],
      ['health', 'GET', '/health', { key: null }],
      ['head', 'HEAD', `${P}/apps`, {}],
    ] as const) {
      const { headers } = await wired(s, method, path, options);
      answers.push([what, { get: (name) => String(headers[name]) }]);
    }
    const unparsed = await sendRaw(s, 'GET /api projects HTTP/9.9\r\n\r\n');
    answers.push([
      'unparsed',
      new Headers(
        unparsed
          .split('\r\n')
          .slice(1, -2)
          .map((line) => line.split(': ') as [string, string]),
      ),
    ]);
    for (const [what, headers] of answers)
      expect([
        what,
        headers.get('x-headrace-version'),
        headers.get('cache-control'),
        headers.get('x-content-type-options'),
      ]).toEqual([what, s.service.ctx.version, 'no-store', 'nosniff']);
    const document = await wired(s, 'GET', '/docs/openapi.json', { key: null });
    expect([document.headers['x-headrace-version'], document.headers['cache-control']]).toEqual([
      s.service.ctx.version,
      'public, max-age=60',
    ]);
  });

  test('a request with two hosts is 400, whichever of them is ours', async () => {
    const preview = `${newId('prv').slice('prv_'.length)}.localhost`;
    for (const [first, second] of [
      ['127.0.0.1', 'other.example'],
      ['127.0.0.1', '127.0.0.1'],
      [preview, '127.0.0.1'],
      ['127.0.0.1', preview],
    ])
      for (const more of ['Connection: close', 'Connection: Upgrade, close\r\nUpgrade: websocket']) {
        const answer = await sendRaw(
          s,
          `GET /health HTTP/1.1\r\nHost: ${first}\r\nHOST: ${second}\r\n${more}\r\n\r\n`,
        );
        expect([answer.split('\r\n')[0], answer.includes('"/headers/host"')]).toEqual([
          'HTTP/1.1 400 Bad Request',
          true,
        ]);
      }
  });
});

describe('compression', () => {
  const unpack: Record<string, (bytes: Buffer) => Buffer> = {
    gzip: gunzipSync,
    br: brotliDecompressSync,
    zstd: zstdDecompressSync,
  };

  test.each(['gzip', 'br', 'zstd'])(
    '%s for whoever asks for it, with the same bytes inside',
    async (encoding) => {
      for (const path of [
        files,
        `${P}/apps/${app}/sources/${source}/file?path=long.txt`,
        '/docs/openapi.json',
      ]) {
        const plain = await wired(s, 'GET', path);
        const packed = await wired(s, 'GET', path, { headers: { 'accept-encoding': encoding } });
        expect([
          plain.headers['content-encoding'],
          plain.headers.vary,
          packed.headers['content-encoding'],
          packed.headers.vary,
        ]).toEqual([undefined, 'accept-encoding', encoding, 'accept-encoding']);
        expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
        expect(unpack[encoding]!(packed.bytes).equals(plain.bytes)).toBe(true);
      }
    },
  );

  test('is what the caller likes best, and never what it refuses', async () => {
    for (const [asked, expected] of [
      ['gzip;q=0.2, br;q=0.9', 'br'],
      ['zstd;q=0, br;q=0, gzip;q=1', 'gzip'],
      ['gzip;q=0', undefined],
      ['identity', undefined],
      ['gzip, br, zstd', 'zstd'],
    ] as const)
      expect(
        (await wired(s, 'GET', files, { headers: { 'accept-encoding': asked } })).headers['content-encoding'],
        asked,
      ).toBe(expected);
  });

  test('leaves short answers, archives and event streams alone', async () => {
    const headers = { 'accept-encoding': 'gzip, br, zstd' };
    for (const path of [`${P}/apps/${app}`, '/health', '/docs', `${P}/apps/${app}/sources/${source}/archive`])
      expect((await wired(s, 'GET', path, { headers })).headers['content-encoding'], path).toBe(undefined);
    const stream = await fetch(`${s.base}${P}/apps/${app}/events/stream`, {
      headers: { ...headers, 'x-api-key': s.key },
    });
    await stream.body!.cancel();
    expect(stream.headers.get('content-encoding')).toBe(null);
  });

  test('does not inflate what a request sends', async () => {
    const answer = await wired(s, 'POST', `${P}/apps`, {
      headers: { ...json, 'content-encoding': 'gzip', 'idempotency-key': randomUUID() },
      body: '{"name":"n"}',
    });
    expect(answer.status).toBe(201);
  });
});

describe('HEAD', () => {
  test('is a GET without its body, wherever there is one', async () => {
    for (const path of [
      '/health',
      '/docs/openapi.json',
      '/docs/',
      `${P}/apps`,
      `${P}/apps/${app}`,
      `${P}/apps/${newId('prj')}`,
      `${P}/apps?limit=0`,
      files,
      `${P}/apps/${app}/sources/${source}/archive`,
      '/api/nonsense',
    ]) {
      for (const headers of [{}, { 'accept-encoding': 'gzip' }] as Record<string, string>[]) {
        const get = await wired(s, 'GET', path, { headers });
        const head = await wired(s, 'HEAD', path, { headers });
        const shown = ({ status, headers: all }: Wired) => [
          path,
          status,
          ...['content-type', 'content-encoding', 'content-length', 'vary'].map((name) => all[name]),
        ];
        expect([...shown(head), head.bytes.length]).toEqual([...shown(get), 0]);
      }
    }
    expect((await wired(s, 'HEAD', `${P}/apps`, { key: null })).status).toBe(401);
    expect((await wired(s, 'HEAD', '/api/auth/sign-in/email', { key: null })).status).toBe(405);
    const cookie = await signedIn(s);
    expect((await wired(s, 'HEAD', '/api/projects', { key: null, headers: { cookie } })).status).toBe(200);
  });

  test('of streams and long polls is answered at once, and leaves no reader behind', async () => {
    const { events } = s.service.ctx;
    const readers = events.readerCount();
    const from = performance.now();
    for (const path of [
      `${P}/apps/${app}/events/stream`,
      '/api/events/stream',
      `${P}/apps/${app}/events?waitSeconds=30&types=platform.app.deleted`,
    ]) {
      const answer = await wired(s, 'HEAD', path);
      expect([path, answer.status, answer.bytes.length]).toEqual([path, 200, 0]);
      if (path.endsWith('/stream'))
        expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    }
    expect(performance.now() - from).toBeLessThan(10_000);
    await expect.poll(() => events.readerCount(), { timeout: 3_000, interval: 20 }).toBe(readers);
  });
});

describe('the size of a body', () => {
  const send = (path: string, size: number, isChunked: boolean, key: string | null) => {
    const body = Buffer.alloc(size, 0x20);
    body.write('{"email":"nobody@example.test","password":"none of ours"}');
    return wired(s, 'POST', path, {
      body,
      key,
      headers: {
        ...json,
        ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(size) }),
      },
    });
  };

  test.each([false, true])('is 16 KiB where no credential is needed (chunked: %s)', async (isChunked) => {
    for (const path of ['/api/auth/sign-in/email', '/api/invitations/none/accept']) {
      expect(code(await send(path, 16 * KIB + 1, isChunked, null))).toBe('413 request_too_large');
      expect([400, 401, 404]).toContain((await send(path, 16 * KIB, isChunked, null)).status);
    }
  });

  test('is not looked at before the caller is known', async () => {
    expect(code(await send(`${P}/apps`, 100 * KIB, true, makeServiceKey()))).toBe('401 unauthorized');
  });
});

test('the reference is outside of the rate limit', async () => {
  const limited = await startTestServer({
    HEADRACE_ROLES: 'api',
    HEADRACE_RATE_LIMIT: '3',
    HEADRACE_RATE_WINDOW_SECONDS: '3600',
  });
  try {
    for (let i = 0; i < 5; i++)
      expect((await wired(limited, 'GET', '/docs/', { key: null })).status).toBe(200);
    const counted = await wired(limited, 'GET', '/api/projects', { key: null });
    expect([counted.status, counted.headers['x-ratelimit-remaining']]).toEqual([401, '2']);
  } finally {
    await limited.close();
  }
});
