import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { testCertificate } from '../../../runner/src/egress/certificate.fixture.ts';
import { attempt } from './attempt.ts';
import type { Answer, AttemptOptions } from './attempt.ts';
import { openNameServer } from './name-server.fixture.ts';
import type { NameServer } from './name-server.fixture.ts';

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

interface Peer {
  port: number;
  connections: number;
}

/** Calls `serve` with each connection. */
async function openPeer(
  serve: (socket: Socket) => unknown,
  { host = '127.0.0.1', port = 0, tls = null as ReturnType<typeof testCertificate> | null } = {},
): Promise<Peer> {
  const sockets = new Set<Socket>();
  const peer: Peer = { port: 0, connections: 0 };
  const server = tls ? createTlsServer(tls, serve) : createServer(serve);
  server.on('connection', (socket: Socket) => {
    peer.connections++;
    sockets.add(socket.on('error', () => {}));
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  peer.port = (server.address() as AddressInfo).port;
  closings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return peer;
}

const nameServer = async (zone: Parameters<typeof openNameServer>[0]): Promise<NameServer> => {
  const server = await openNameServer(zone);
  closings.push(() => server.close());
  return server;
};

const noNames = () => Promise.reject(new Error('there are no names'));

const post = (url: string, options: Partial<AttemptOptions> = {}, size = 2): Promise<Answer> =>
  attempt(
    { url, headers: { 'content-type': 'application/json' }, body: Buffer.alloc(size, 0x20) },
    {
      resolve: noNames,
      allowPrivate: true,
      timeoutMs: 10_000,
      signal: new AbortController().signal,
      ...options,
    },
  );

/** What comes of an answer with these bytes. */
async function answered(
  bytes: string | Buffer,
  options: Partial<AttemptOptions> = {},
  isEnded = true,
): Promise<Answer> {
  const peer = await openPeer((socket) => {
    socket.once('data', () => (isEnded ? socket.end(bytes) : socket.write(bytes)));
  });
  return post(`http://127.0.0.1:${peer.port}/`, options);
}

const FAILED = { statusCode: null, response: null, retryAfter: null };

test.each([
  [200, null],
  [204, null],
  [299, null],
  [300, 'status'],
  [301, 'redirect'],
  [303, 'redirect'],
  [304, 'status'],
  [308, 'redirect'],
  [400, 'status'],
  [410, 'status'],
  [503, 'status'],
])('an answer %i is %s', async (status, error) => {
  const head = `HTTP/1.1 ${status} X\r\nlocation: http://127.0.0.1:1/\r\nretry-after: 7\r\n`;
  const isBare = status === 204 || status === 304;
  expect(await answered(isBare ? `${head}\r\n` : `${head}content-length: 3\r\n\r\nyes`)).toEqual({
    statusCode: status,
    error,
    response: isBare ? '' : 'yes',
    retryAfter: '7',
  });
});

test('only the first bytes of an endless response are read, and the connection is dropped', async () => {
  let isDropped = false;
  const peer = await openPeer((socket) => {
    socket.on('close', () => (isDropped = true));
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const flow = () => {
      while (!socket.destroyed && socket.write(`4000\r\n${'y'.repeat(0x4000)}\r\n`));
    };
    socket.on('drain', flow);
    flow();
  });
  const { error, response } = await post(`http://127.0.0.1:${peer.port}/`);
  expect([error, response]).toEqual([null, 'y'.repeat(1_024)]);
  await expect.poll(() => isDropped).toBe(true);
});

test('characters that the database cannot store are replaced', async () => {
  const bytes = Buffer.concat([
    Buffer.from('HTTP/1.1 500 X\r\n\r\na'),
    Buffer.from([0, 0xff, 0xfe]),
    Buffer.from('b'),
  ]);
  expect((await answered(bytes)).response).toBe('a\u{fffd}\u{fffd}\u{fffd}b');
});

test.each([
  ['nothing', ''],
  ['half a status line', 'HTTP/1.1 20'],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['a head without an end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`],
  ['interim answers without an end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000)],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
])('a connection that ends with %s is no answer', async (_what, bytes) => {
  expect(await answered(bytes)).toEqual({ ...FAILED, error: 'connection' });
});

test('a response that arrived before the connection broke counts', async () => {
  expect(await answered('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart')).toMatchObject({
    statusCode: 200,
    error: null,
    response: 'part',
  });
});

test.each([
  ['answers nothing', () => {}],
  ['never reads', (socket: Socket) => socket.pause()],
  [
    'answers a byte at a time',
    (socket: Socket) => {
      const text = `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000)}\r\n\r\n`;
      let at = 0;
      const timer = setInterval(() => socket.write(text[at++]!), 20);
      socket.once('close', () => clearInterval(timer));
    },
  ],
])('a receiver that %s costs the time of an attempt, and no more', async (_what, serve) => {
  const peer = await openPeer(serve);
  const began = performance.now();
  expect(await post(`http://127.0.0.1:${peer.port}/`, { timeoutMs: 200 }, 8_000_000)).toEqual({
    ...FAILED,
    error: 'timeout',
  });
  expect(performance.now() - began).toBeLessThan(2_000);
});

test('a body that drips is cut when the time is over; the status counts', async () => {
  const answer = await answered('HTTP/1.1 200 OK\r\n\r\nslow', { timeoutMs: 200 }, false);
  expect(answer).toMatchObject({ statusCode: 200, error: null, response: 'slow' });
});

test('a closed port is a connection error, and an untrusted certificate is a TLS error', async () => {
  const gone = await openPeer(() => {});
  await closings.pop()!();
  const secure = await openPeer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'), {
    tls: testCertificate(['hook.test']),
  });
  const plain = await openPeer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  });
  expect(await post(`http://127.0.0.1:${gone.port}/`)).toEqual({ ...FAILED, error: 'connection' });
  expect(await post(`https://127.0.0.1:${secure.port}/`)).toEqual({ ...FAILED, error: 'tls' });
  expect(await post(`https://127.0.0.1:${plain.port}/`)).toEqual({ ...FAILED, error: 'tls' });
});

test('over TLS the certificate must match the name, not the address', async () => {
  const certificate = testCertificate(['hook.test']);
  const peer = await openPeer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nsafe'), { tls: certificate });
  const names = await nameServer(() => ['127.0.0.1']);
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, certificate.cert]);
  closings.push(() => setDefaultCACertificates(trusted));
  expect(await post(`https://hook.test:${peer.port}/`, names)).toMatchObject({
    error: null,
    response: 'safe',
  });
  expect(await post(`https://other.test:${peer.port}/`, names)).toEqual({ ...FAILED, error: 'tls' });
});

test('a name is looked up once per attempt: a later change of its addresses has no effect', async () => {
  const names = await nameServer((_name, n) => (n === 0 ? ['127.0.0.1'] : ['127.0.0.2']));
  const answer = 'HTTP/1.1 200 OK\r\n\r\n';
  const first = await openPeer((socket) => socket.end(answer));
  const second = await openPeer((socket) => socket.end(answer), { host: '127.0.0.2', port: first.port });
  const url = `http://hook.test:${first.port}/`;
  expect(await post(url, names)).toMatchObject({ statusCode: 200 });
  expect([names.asked, first.connections, second.connections]).toEqual([['hook.test'], 1, 0]);
  expect(await post(url, names)).toMatchObject({ statusCode: 200 });
  expect([names.asked.length, first.connections, second.connections]).toEqual([2, 1, 1]);
});

test('each address of a name must be public; otherwise none is dialled', async () => {
  const peer = await openPeer(() => {});
  const zone: Record<string, string[]> = {
    'one.test': ['127.0.0.1'],
    'mixed.test': ['8.8.8.8', '127.0.0.1'],
    'six.test': ['8.8.8.8', '2606:4700::1111', '::1'],
    'metadata.test': ['169.254.169.254'],
  };
  const names = await nameServer((name) => zone[name] ?? []);
  const isPublicOnly = { resolve: names.resolve, allowPrivate: false };
  const hosts = [
    ...Object.keys(zone),
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    '127.0.0.1',
    '[::1]',
    '10.0.0.1',
  ];
  for (const host of hosts)
    expect(await post(`https://${host}:${peer.port}/`, isPublicOnly), host).toEqual({
      ...FAILED,
      error: 'address_refused',
    });
  expect(await post(`http://8.8.8.8:${peer.port}/`, isPublicOnly)).toMatchObject({
    error: 'address_refused',
  });
  expect(await post(`https://unknown.test:${peer.port}/`, isPublicOnly)).toMatchObject({
    error: 'connection',
  });
  expect(peer.connections).toBe(0);
});

test('name servers that do not answer delay no other attempt and no file access', async () => {
  const names = await nameServer((name) => (name === 'silent.test' ? null : ['127.0.0.1']));
  const peer = await openPeer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  const began = performance.now();
  const silent = Array.from({ length: 50 }, () =>
    post(`http://silent.test:${peer.port}/`, { resolve: names.resolve, timeoutMs: 1_000 }),
  );
  expect(await post(`http://hook.test:${peer.port}/`, names)).toMatchObject({ statusCode: 200 });
  expect(performance.now() - began).toBeLessThan(900);
  for (const one of await Promise.all(silent)) expect(one).toEqual({ ...FAILED, error: 'timeout' });
});
