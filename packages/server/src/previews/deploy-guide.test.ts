/** The guide to deployment: its configuration of nginx, as it stands there, in front of a service. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OWNER, startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { tarFixture } from '../trees/tar.fixture.ts';
import { newBench, until } from './previews.fixture.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/guides/deploy.md'), 'utf8');
const nginxConf = /^```nginx\n([\s\S]*?)^```$/m.exec(guide)![1]!;
const settings = Object.fromEntries(
  [...guide.matchAll(/\b(HEADRACE_(?:TRUSTED_PROXIES|PREVIEW_URL))='?([^\s']+)/g)].map(([, k, v]) => [
    k!,
    v!,
  ]),
);
const P = '/api/platform/v1';

/** Debian's nginx has a folder that not every PATH has. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
const missing = [
  ['nginx', '-v'],
  ['openssl', 'version'],
].flatMap(([command, flag]) => (spawnSync(command!, [flag!], { env }).error ? [command!] : []));
if (missing.length > 0)
  process.stderr.write(`SKIPPED, the guide to deployment: apt-get install ${missing.join(' ')} to run it\n`);

test('the guide sets what the service needs behind a proxy', () =>
  expect(settings).toEqual({
    HEADRACE_TRUSTED_PROXIES: '127.0.0.1,::1',
    HEADRACE_PREVIEW_URL: 'https://*.previews.example.net',
  }));

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  socket?: Duplex;
}

describe.skipIf(missing.length > 0)('behind nginx', () => {
  let server: TestServer;
  let proxy: Awaited<ReturnType<typeof startNginx>>;
  beforeAll(async () => {
    server = await startTestServer(settings);
    proxy = await startNginx(new URL(server.base).port);
  });
  afterAll(async () => {
    await proxy?.stop();
    await server?.close();
  });

  /** One request over TLS to a name that the proxy serves. */
  function ask(
    url: string,
    options: {
      method?: string;
      headers?: Record<string, string>;
      body?: Buffer;
      onData?: (text: string) => void;
    } = {},
  ): Promise<Answer> {
    const { hostname, pathname, search } = new URL(url);
    return new Promise((resolve, reject) => {
      const asked = request({
        host: '127.0.0.1',
        port: proxy.tlsPort,
        servername: hostname,
        ca: proxy.certificate,
        path: pathname + search,
        method: options.method ?? 'GET',
        headers: { host: hostname, ...options.headers },
        agent: false,
      });
      asked.on('error', reject);
      asked.on('upgrade', ({ statusCode, headers }, socket) =>
        resolve({ status: statusCode!, headers, text: '', socket }),
      );
      asked.on('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          text += part;
          options.onData?.(text);
        });
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
      });
      asked.end(options.body);
    });
  }
  const api = (path: string) => `https://headrace.example.com${path}`;
  const withKey = (headers: Record<string, string> = {}) => ({ 'x-api-key': server.key, ...headers });

  test('the API answers over TLS, and plain HTTP leads there', async () => {
    expect((await ask(api('/health'))).status).toBe(200);
    const plain = plainRequest({
      host: '127.0.0.1',
      port: proxy.port,
      path: '/docs?x',
      headers: { host: 'headrace.example.com' },
      agent: false,
    }).end();
    const [answer] = await once(plain, 'response');
    answer.resume();
    expect([answer.statusCode, answer.headers.location]).toEqual([301, api('/docs?x')]);
  });

  test('a session is for TLS alone, and its address is the caller’s, whatever the caller says', async () => {
    const answer = await ask(api('/api/auth/sign-in/email'), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        origin: 'https://headrace.example.com',
        'x-forwarded-for': '203.0.113.9',
      },
      body: Buffer.from(JSON.stringify(OWNER)),
    });
    expect(answer.status).toBe(200);
    expect(String(answer.headers['set-cookie'])).toMatch(/; Secure/);
    const cookie = String(answer.headers['set-cookie']).split(';')[0]!;
    const audit = await ask(api('/api/audit'), { headers: { cookie } });
    expect(audit.text).toContain('"address":"127.0.0.1"');
    expect(audit.text).not.toContain('203.0.113.9');
  });

  test('an event comes while its stream is open', async () => {
    const { app } = (await server.call('POST', `${P}/apps`, { name: 'Streamed' })).body;
    let text = '';
    const stream = ask(api(`${P}/apps/${app.id}/events/stream`), {
      headers: withKey(),
      onData: (all) => (text = all),
    });
    stream.catch(() => null);
    await until(async () => text.includes('heartbeat'), 'the first heartbeat');
    const { source } = (await server.call('POST', `${P}/apps/${app.id}/sources`, { files: [] })).body;
    await until(async () => text.includes(source.id), 'the event of the import');
  });

  test('an import of 12 MiB passes', async () => {
    const { app } = (await server.call('POST', `${P}/apps`, { name: 'Large' })).body;
    const files = [1, 2].map((i) => ({ path: `f${i}`, content: randomBytes(6 * 1024 * 1024) }));
    const answer = await ask(api(`${P}/apps/${app.id}/sources`), {
      method: 'POST',
      headers: withKey({ 'content-type': 'application/gzip', 'idempotency-key': 'large' }),
      body: gzipSync(tarFixture(files), { level: 1 }),
    });
    expect([answer.status, JSON.parse(answer.text).source.byteSize]).toEqual([201, 12 * 1024 * 1024]);
  });

  test('a preview answers at its own address, also as a WebSocket', async ({ skip }) => {
    const status = server.service.ctx.runnerStatus();
    if (!status?.ok) return skip(`no sandbox can be made here: ${status?.missing.join('; ')}`);
    const { url } = await (await newBench(server)).ready();
    expect(url).toMatch(/^https:\/\/[0-9a-z]{26}\.previews\.example\.net\/$/);
    expect((await ask(`${url}file`)).text).toBe('first');
    const seen = JSON.parse((await ask(`${url}echo`)).text).headers;
    expect(seen).toMatchObject({ host: new URL(url).host, 'x-forwarded-proto': 'https' });
    const { socket } = await ask(`${url}socket`, {
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    });
    socket!.write('both ways');
    const [said] = await once(socket!, 'data');
    socket!.destroy();
    expect(String(said)).toBe('both ways');
    expect((await ask(url.replace(/[0-9a-z]{26}/, '0'.repeat(26)))).status).toBe(404);
  });
});

/** Starts nginx with the guide's configuration, whose ports and paths are replaced by others. */
async function startNginx(servicePort: string) {
  const dir = mkdtempSync(join(tmpdir(), 'headrace-nginx-'));
  const [tlsPort, port] = [await freePort(), await freePort()];
  const names = ['headrace.example.com', '*.previews.example.net'];
  for (const folder of ['tls', 'temp']) mkdirSync(join(dir, folder));
  for (const [i, name] of ['service', 'previews'].entries()) {
    const keys = `-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ${dir}/tls/${name}.key`;
    const about = `-subj /CN=${name} -addext subjectAltName=DNS:${names[i]} -days 2`;
    const made = spawnSync('openssl', `req -x509 ${keys} ${about} -out ${dir}/tls/${name}.pem`.split(' '));
    expect(made.status, String(made.stderr)).toBe(0);
  }
  const replaced = nginxConf
    .replaceAll('listen 443', `listen 127.0.0.1:${tlsPort}`)
    .replaceAll('listen 80', `listen 127.0.0.1:${port}`)
    .replaceAll('/etc/headrace/tls', join(dir, 'tls'))
    .replaceAll('127.0.0.1:4400', `127.0.0.1:${servicePort}`);
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log;
${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
access_log off;
${temps.map((temp) => `${temp}_temp_path ${dir}/temp/${temp};`).join('\n')}
${replaced}
}
`,
  );
  const child = spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf'), '-e', join(dir, 'error.log')], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (part: Buffer) => (said += String(part)));
  const ended = once(child, 'close');
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`);
    return spawnSync('bash', ['-c', `exec 3<>/dev/tcp/127.0.0.1/${tlsPort}`]).status === 0;
  }, 'nginx');
  return {
    tlsPort,
    port,
    certificate: ['service', 'previews'].map((name) => readFileSync(join(dir, `tls/${name}.pem`))),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  taken.close();
  await once(taken, 'close');
  return port;
}
