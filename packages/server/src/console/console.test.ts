import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync, brotliDecompressSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../app.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const SCRIPT = `console.log(${JSON.stringify('race '.repeat(500))});`;
const PAGE = '<!doctype html><meta nonce="HEADRACE_NONCE"><style nonce="HEADRACE_NONCE"></style>';

let server: TestServer;
let folder: string;
const apps: FastifyInstance[] = [];

beforeAll(async () => {
  server = await startTestServer({
    HEADRACE_ROLES: 'api',
    HEADRACE_RATE_LIMIT: '60',
    HEADRACE_RATE_WINDOW_SECONDS: '3600',
  });
  folder = await mkdtemp(join(tmpdir(), 'headrace-console-'));
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await rm(folder, { recursive: true, force: true });
  await server.close();
});

/** A build as vite leaves it. Returns its folder. */
async function build(name: string, page = PAGE): Promise<string> {
  const dist = join(folder, name);
  await mkdir(join(dist, 'assets'), { recursive: true });
  await writeFile(join(dist, 'index.html'), page);
  await writeFile(join(dist, 'secret.txt'), 'not an asset');
  const script = join(dist, 'assets/index-1a2b.js');
  await writeFile(script, SCRIPT);
  await writeFile(`${script}.br`, brotliCompressSync(SCRIPT));
  await writeFile(`${script}.gz`, gzipSync(SCRIPT));
  await writeFile(join(dist, 'assets/face-3c4d.woff2'), Buffer.from([0x77, 0xff, 0x00]));
  return dist;
}

/** The service's API, with another console. */
async function serve(consoleFolder: string | null): Promise<Ask> {
  const { ctx } = server.service;
  const app = await createApp({ ...ctx, config: { ...ctx.config, consoleFolder } });
  apps.push(app);
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
  return (path, headers = {}, method = 'GET') => ask(port, { path, headers, method });
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
}
type Ask = (path: string, headers?: Record<string, string>, method?: string) => Promise<Answer>;

/** The path goes out as it is: `fetch` would resolve its dots. */
function ask(
  port: number,
  { path, headers, method }: { path: string; headers: Record<string, string>; method: string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, headers, agent: false }, async (response) => {
      const bytes = Buffer.concat(await response.toArray());
      resolve({ status: response.statusCode!, headers: response.headers, bytes, text: bytes.toString() });
    })
      .on('error', reject)
      .end();
  });
}

describe('a built console', () => {
  let get: Ask;
  beforeAll(async () => {
    get = await serve(await build('built'));
  });

  test('every path that is no asset is the page, with a nonce of its own in text and policy', async () => {
    const paths = [
      '/console',
      '/console/',
      '/console/apps/app_1?tab=runs',
      '/console/invitations/a.b',
      '/console/index.html',
    ];
    const answers = await Promise.all(paths.map((path) => get(path, { accept: BROWSER })));
    const nonces = answers.map((answer, i) => {
      expect([answer.status, answer.headers['content-type']], paths[i]).toEqual([
        200,
        'text/html; charset=utf-8',
      ]);
      const nonce = /'nonce-([A-Za-z0-9+/]{22}==)'/.exec(
        String(answer.headers['content-security-policy']),
      )![1]!;
      expect(answer.text).toBe(PAGE.replaceAll('HEADRACE_NONCE', nonce));
      return nonce;
    });
    expect(new Set(nonces).size).toBe(paths.length);
  });

  test('the page runs scripts of its own only, frames previews only, and nobody keeps or frames it', async () => {
    const { headers } = await get('/console/');
    const policy = String(headers['content-security-policy']);
    expect(policy.replace(/'nonce-[^']+'/, 'NONCE').split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' NONCE",
      "connect-src 'self'",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      "worker-src 'self'",
      `frame-src http://*.localhost:${server.service.ctx.listening.port}`,
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'x-headrace-version': server.service.ctx.version,
      'x-request-id': expect.any(String),
    });
  });

  test('an asset is sent as it was compressed at the build, and kept for good', async () => {
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync, none: (bytes: Buffer) => bytes };
    const tags = [];
    for (const [asked, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0.1, gzip;q=0.5', 'gzip'],
      ['zstd', 'none'],
      ['br;q=0', 'none'],
      [undefined, 'none'],
    ] as const) {
      const answer = await get('/console/assets/index-1a2b.js', asked ? { 'accept-encoding': asked } : {});
      expect([answer.status, answer.headers['content-encoding'] ?? 'none'], asked).toEqual([200, encoding]);
      expect(unpack[encoding](answer.bytes).toString()).toBe(SCRIPT);
      expect(answer.headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': 'text/javascript; charset=utf-8',
        'content-length': String(answer.bytes.length),
        'x-content-type-options': 'nosniff',
        'x-headrace-version': server.service.ctx.version,
        'x-request-id': expect.any(String),
      });
      expect(answer.headers.vary).toMatch(/accept-encoding/i);
      tags.push(`${encoding} ${answer.headers.etag}`);
    }
    expect(tags.every((tag) => /^\w+ "[\w-]+"$/.test(tag))).toBe(true);
    // A strong tag names bytes, so each encoding has its own.
    expect(new Set(tags).size).toBe(3);
    const font = await get('/console/assets/face-3c4d.woff2', { 'accept-encoding': 'br' });
    expect([font.headers['content-type'], font.headers['content-encoding'], [...font.bytes]]).toEqual([
      'font/woff2',
      undefined,
      [0x77, 0xff, 0x00],
    ]);
  });

  test('who has an asset gets 304', async () => {
    const { headers } = await get('/console/assets/index-1a2b.js', { 'accept-encoding': 'br' });
    const again = (tag: string, encoding = 'br') =>
      get('/console/assets/index-1a2b.js', { 'accept-encoding': encoding, 'if-none-match': tag });
    const known = await again(`"other", W/${headers.etag}`);
    expect([known.status, known.bytes.length, known.headers.etag, known.headers['cache-control']]).toEqual([
      304,
      0,
      headers.etag,
      headers['cache-control'],
    ]);
    expect((await again('"other"')).status).toBe(200);
    expect((await again(headers.etag!, 'gzip')).status).toBe(200);
  });

  test('HEAD is GET without the body', async () => {
    for (const path of ['/console/', '/console/assets/index-1a2b.js']) {
      const [head, whole] = await Promise.all([get(path, {}, 'HEAD'), get(path)]);
      expect([head.status, head.bytes.length], path).toEqual([200, 0]);
      expect(head.headers['content-length']).toBe(String(whole.bytes.length));
      expect(head.headers['content-type']).toBe(whole.headers['content-type']);
    }
  });

  test('an asset that is not of this build is a 404, never the page; no path leads out of it', async () => {
    const paths = [
      '/console/assets/index-0000.js',
      '/console/assets/index-1a2b.js.br',
      '/console/assets/',
      '/console/assets/../secret.txt',
      '/console/assets/..%2fsecret.txt',
      '/console/assets/%2e%2e/secret.txt',
      '/console/assets/%2e%2e%2fsecret.txt',
      '/console/assets/..%5csecret.txt',
      '/console/%61ssets/..%2fsecret.txt',
      '/console/assets//etc/passwd',
      '/console/assets/%2fetc%2fpasswd',
      '/console/assets/index-1a2b.js%00',
      '/console/assets/__proto__',
    ];
    for (const path of paths) {
      const answer = await get(path, { accept: BROWSER });
      expect([answer.status, JSON.parse(answer.text).error.code], path).toEqual([404, 'not_found']);
      expect(answer.headers['cache-control'], path).toBe('no-store');
    }
    for (const path of [
      '/console/../secret.txt',
      '/console/..%2fsecret.txt',
      '/console/%2e%2e/%2e%2e/package.json',
    ])
      expect((await get(path)).text, path).not.toMatch(/not an asset|headrace"/);
  });

  test('takes GET and HEAD only', async () => {
    for (const path of ['/console', '/console/', '/console/apps', '/console/assets/index-1a2b.js'])
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const answer = await get(path, {}, method);
        expect([answer.status, answer.headers.allow], `${method} ${path}`).toEqual([405, 'GET, HEAD']);
      }
  });

  test('leads browsers from / to itself, and nobody else', async () => {
    const browser = await get('/', { accept: BROWSER });
    expect([browser.status, browser.headers.location, browser.headers.vary]).toEqual([
      302,
      '/console/',
      'accept, accept-encoding',
    ]);
    for (const accept of ['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0', '']) {
      const answer = await get('/', { accept });
      expect([answer.status, JSON.parse(answer.text).error.code], accept).toEqual([404, 'not_found']);
    }
  });
});

test('a caller without requests left still gets the console, however its address is spelt', async () => {
  const get = await serve(await build('uncounted'));
  const refused = async () => (await get('/api/projects')).status === 429;
  for (let i = 0; i < 60 && !(await refused()); i++);
  expect(await refused()).toBe(true);
  for (const path of [
    '/console',
    '/console/',
    '/console/apps?x=1',
    '/%63onsole/apps',
    '/console/assets/index-1a2b.js',
    '/console/%61ssets/index-1a2b.js',
  ])
    expect((await get(path)).status, path).toBe(200);
  expect((await get('/console/assets/none.js')).status).toBe(404);
  // What only looks like it is counted.
  for (const path of ['/consolex', '/api/../console/', '/']) expect((await get(path)).status, path).toBe(429);
});

test('who may be signed in gets the first reads with the page, and nobody else does', async () => {
  const get = await serve(await build('early', `<!doctype html><head></head>${PAGE}`));
  expect((await get('/console/')).text).not.toContain('preload');
  const { text } = await get('/console/', { cookie: 'a=b' });
  const paths = [...text.matchAll(/<link rel="preload" as="fetch" crossorigin href="([^"]+)">/g)];
  expect(paths.map(([, path]) => path)).toEqual(['/api/session', '/api/events/head']);
});

describe('no console', () => {
  test('without a build, people and programs read what to do, and its build is served once it is there', async () => {
    const dist = join(folder, 'late');
    const get = await serve(dist);
    const page = await get('/console/apps', { accept: BROWSER });
    expect([page.status, page.headers['content-type']]).toEqual([503, 'text/html; charset=utf-8']);
    expect(page.text).toContain('run `npm start`');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    for (const path of ['/console/', '/console/assets/index-1a2b.js']) {
      const answer = await get(path);
      expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([503, 'unavailable']);
      expect(JSON.parse(answer.text).error.message).toContain('run `npm start`');
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    await build('late');
    expect((await get('/console/')).status).toBe(200);
  });

  test('a build that failed says why, as text', async () => {
    const dist = join(folder, 'failed');
    await mkdir(dist);
    await writeFile(join(dist, 'failure.txt'), 'src/main.tsx: <script>alert(1)</script> is not expected');
    const get = await serve(dist);
    const page = await get('/console/', { accept: BROWSER });
    expect(page.status).toBe(503);
    expect(page.text).toContain('src/main.tsx: &#60;script&#62;alert(1)');
    expect(page.text).not.toContain('<script>');
    const answer = await get('/console/', { accept: 'application/json' });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text).error.message).toContain('src/main.tsx: <script>');
  });

  test('HEADRACE_CONSOLE=0: its paths are unknown ones', async () => {
    const off = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_CONSOLE: '0' }, server);
    try {
      for (const path of ['/', '/console', '/console/', '/console/assets/index-1a2b.js']) {
        const answer = await off.call('GET', path, undefined, { key: null, headers: { accept: BROWSER } });
        expect([answer.status, answer.body.error.code], path).toEqual([404, 'not_found']);
      }
    } finally {
      await off.close();
    }
  });
});

test('a service stays with the build that it has read, page and assets, when another takes its place', async () => {
  const dist = await build('replaced');
  // Read at the start: nobody has asked yet.
  const get = await serve(dist);
  const next = await build('next', '<p>next</p>');
  await rm(join(next, 'assets'), { recursive: true });
  await rename(dist, `${dist}-former`);
  await rename(next, dist);
  expect((await get('/console/')).text).toContain('<meta nonce=');
  expect((await get('/console/assets/index-1a2b.js')).text).toBe(SCRIPT);
});
