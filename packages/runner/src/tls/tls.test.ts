import dns from 'node:dns';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect as connectPlain, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { scratch } from '../runner.fixture.ts';
import { TestAuthority } from './certificates.fixture.ts';
import { createRunnerClient } from '../client/runner-client.ts';
import {
  connectTls,
  createTlsServer,
  ownFaults,
  parseAddress,
  rolesOf,
  TlsAgent,
  TlsCredentials,
  TlsFault,
} from './index.ts';
import type { TlsFiles, TlsRole } from './index.ts';

const folder = scratch();
const authority = new TestAuthority(folder);
const runner = authority.of('runner');
const worker = authority.of('worker');

interface Listening {
  port: number;
  /** Requests that were read. */
  requests: string[];
  refusals: string[];
  /** Connections after their handshakes, and those of them that were upgraded. */
  connections: TLSSocket[];
  upgraded: TLSSocket[];
}

async function listening(files: TlsFiles, roles: TlsRole[]): Promise<Listening> {
  const requests: string[] = [],
    refusals: string[] = [],
    connections: TLSSocket[] = [],
    upgraded: TLSSocket[] = [];
  const server = createTlsServer(
    { tls: new TlsCredentials(files), roles, onRefused: (reason) => refusals.push(reason) },
    (req, res) => {
      requests.push(req.url!);
      res.end('fine');
    },
  );
  server.on('secureConnection', (socket) => connections.push(socket));
  server.on('upgrade', (_req, socket: TLSSocket) => {
    upgraded.push(socket);
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
    for (const socket of upgraded) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, requests, refusals, connections, upgraded };
}

/** Sends a request right behind the handshake, whatever the certificate; the answer, or why there is none. */
function ask(port: number, files: TlsFiles | undefined, options: object = {}): Promise<string> {
  return new Promise((resolve) => {
    const pems = files && new TlsCredentials(files).pems;
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...pems, ...options });
    let text = '';
    socket.write('GET /secret HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    socket
      .on('data', (part) => (text += part.toString()))
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .on('close', () => resolve(text || 'closed'));
  });
}

describe('a server', () => {
  test('answers a peer of its roles', async () => {
    const { port, requests } = await listening(runner, ['worker', 'api']);
    expect(await ask(port, worker)).toMatch(/200 OK[^]*fine$/);
    expect(await ask(port, authority.of('api', 'runner'))).toMatch(/200 OK/);
    expect(requests).toEqual(['/secret', '/secret']);
  });

  test('reads no request of a peer of another role, and says whose', async () => {
    const { port, requests, refusals } = await listening(worker, ['runner']);
    expect(await ask(port, worker)).not.toMatch(/HTTP/);
    expect([requests, refusals]).toEqual([[], ['127.0.0.1 has no certificate of the role runner']]);
  });

  test.each<[string, () => TlsFiles | undefined, object]>([
    ['of a stranger', () => new TestAuthority(mkdtempSync(join(folder, 's'))).of('worker'), {}],
    [
      'that has expired',
      () => authority.sign('old', { names: ['URI:headrace://role/worker'], days: -1 }),
      {},
    ],
    ['missing', () => undefined, {}],
    ['of TLS 1.2', () => worker, { maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' }],
  ])('reads no request with a certificate %s', async (_, files, options) => {
    const { port, requests } = await listening(runner, ['worker', 'api']);
    expect(await ask(port, files(), options)).not.toMatch(/HTTP/);
    expect(requests).toEqual([]);
  });

  test('resumes no session', async () => {
    const { port } = await listening(runner, ['worker']);
    const sessions: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', ...new TlsCredentials(worker).pems });
    socket.on('session', (session) => sessions.push(session));
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    for (const session of sessions) {
      const again = connect({ port, host: '127.0.0.1', session, ...new TlsCredentials(worker).pems });
      await once(again, 'secureConnect');
      expect(again.isSessionReused()).toBe(false);
      again.destroy();
    }
  });

  test('does not wait for ever for a handshake, and does not tell of who only asks whether it listens', async () => {
    const { port, refusals } = await listening(runner, ['worker']);
    connectPlain(port, '127.0.0.1').end();
    const socket = connectPlain(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.resume();
    await once(socket, 'close');
    expect(refusals).toEqual([]);
  }, 30_000);

  test('tells of a peer that speaks something else', async () => {
    const { port, refusals } = await listening(runner, ['worker']);
    const socket = connectPlain(port, '127.0.0.1');
    socket.resume().end('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'close');
    expect(refusals).toEqual(['127.0.0.1 did not pass the handshake (ERR_SSL_HTTP_REQUEST)']);
  });
});

describe('a client', () => {
  const dial = (port: number, files: TlsFiles, role: TlsRole, host = 'localhost') =>
    connectTls({ host, port, tls: new TlsCredentials(files) }, { role, timeoutMs: 3_000 });

  test('meets a peer of the role by its name or address', async () => {
    const { port } = await listening(runner, ['worker']);
    for (const host of ['localhost', '127.0.0.1']) (await dial(port, worker, 'runner', host)).destroy();
  });

  test('refuses a peer of another role, of another name, and of a stranger', async () => {
    const { port } = await listening(runner, ['worker']);
    await expect(dial(port, worker, 'worker')).rejects.toThrow(/no certificate of the role worker/);
    const elsewhere = authority.sign('elsewhere', { names: ['DNS:other', 'URI:headrace://role/runner'] });
    const other = await listening(elsewhere, ['worker']);
    await expect(dial(other.port, worker, 'runner')).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    const stranger = new TestAuthority(mkdtempSync(join(folder, 's'))).of('runner');
    const strange = await listening(stranger, ['worker']);
    await expect(dial(strange.port, worker, 'runner')).rejects.toThrow(/self-signed|unable to verify/);
  });

  test('gives up where nothing answers the handshake', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    await expect(
      connectTls(
        { host: '127.0.0.1', port: (server.address() as AddressInfo).port, tls: new TlsCredentials(worker) },
        { role: 'runner', timeoutMs: 50 },
      ),
    ).rejects.toThrow('did not accept within 50 ms');
  });
});

describe('connections that are opened ahead', () => {
  const targetOf = (port: number) => ({ host: 'localhost', port, tls: new TlsCredentials(worker) });

  test('serve the next request, are few, and end with the agent', async () => {
    const { port, connections } = await listening(runner, ['worker']);
    const agent = new TlsAgent(targetOf(port), 'runner');
    await agent.prepare();
    await vi.waitFor(() => expect(connections).toHaveLength(4));
    const [res] = (await once(request({ agent, host: 'localhost', port }).end(), 'response')) as [Readable];
    await text(res);
    expect(connections).toHaveLength(4);
    await Promise.all(Array.from({ length: 10 }, () => agent.prepare()));
    await vi.waitFor(() => expect(connections).toHaveLength(5));
    agent.destroy();
    await agent.prepare();
    await vi.waitFor(() => expect(connections.filter((socket) => !socket.destroyed)).toEqual([]));
  });

  test('that ended meanwhile are not used', async () => {
    const { port, connections, requests } = await listening(runner, ['worker']);
    const agent = new TlsAgent(targetOf(port), 'runner');
    onTestFinished(() => agent.destroy());
    await agent.prepare();
    await vi.waitFor(() => expect(connections).toHaveLength(4));
    const closed = connections.map((socket) => once(socket, 'close'));
    for (const socket of connections) socket.destroy();
    await Promise.all(closed);
    await vi.waitFor(async () => {
      const [res] = (await once(request({ agent, host: 'localhost', port }).end(), 'response')) as [Readable];
      await text(res);
    });
    expect(requests).toHaveLength(1);
  });

  test('spare whoever visits a preview again the handshake', async () => {
    const { port, connections, upgraded } = await listening(runner, ['worker']);
    const client = createRunnerClient(targetOf(port));
    onTestFinished(() => client.close());
    for (let visits = 1; visits <= 3; visits++) {
      const ahead = [...connections];
      const visit = await client.connect('prv_1');
      onTestFinished(() => void visit.destroy());
      expect(visits === 1 || ahead.includes(upgraded.at(-1)!)).toBe(true);
      await vi.waitFor(() => expect(connections).toHaveLength(visits + 4));
    }
  });
});

describe('files', () => {
  test('that are replaced are used by the next connection, on both sides', async () => {
    const files = authority.sign('renewed', { names: ['DNS:localhost', 'URI:headrace://role/runner'] });
    const { port } = await listening(files, ['worker']);
    const client = new TlsCredentials(worker);
    const serial = async (): Promise<string> => {
      const socket = await connectTls({ host: 'localhost', port, tls: client }, { role: 'runner' });
      const { serialNumber } = socket.getPeerX509Certificate()!;
      socket.destroy();
      return serialNumber;
    };
    const first = await serial();
    const { cert, key } = authority.sign('later', { names: ['DNS:localhost', 'URI:headrace://role/runner'] });
    copyFileSync(cert, files.cert);
    copyFileSync(key, files.key);
    const second = new X509Certificate(readFileSync(cert)).serialNumber;
    expect(second).not.toBe(first);
    await vi.waitFor(async () => expect(await serial()).toBe(second), { timeout: 10_000, interval: 100 });
  });

  test('that do not fit each other leave the former ones in use, and say why, until they do', async () => {
    const files = authority.sign('half', { names: ['URI:headrace://role/worker'] });
    const tls = new TlsCredentials(files);
    const before = tls.pems;
    const other = authority.sign('other-half', { names: ['URI:headrace://role/api'] });
    copyFileSync(other.cert, files.cert);
    await vi.waitFor(() => expect(tls.fault?.message).toMatch(/is not the key of/), { timeout: 5_000 });
    expect(tls.pems).toBe(before);
    copyFileSync(other.key, files.key);
    await vi.waitFor(() => expect(tls.facts.roles).toEqual(['api']), { timeout: 5_000 });
    expect(tls.fault).toBe(null);
  });

  test('say what they are', () => {
    const { facts } = new TlsCredentials(authority.of('worker', 'api'));
    expect(facts).toMatchObject({ roles: ['api', 'worker'], hosts: ['localhost', '127.0.0.1'] });
    const days = (facts.expiresAt.getTime() - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29);
    expect(days).toBeLessThan(31);
  });

  test.each<[string, () => TlsFiles, RegExp]>([
    ['missing', () => ({ ...worker, cert: join(folder, 'none') }), /certificate cannot be read/],
    ['of another key', () => ({ ...worker, key: runner.key }), /is not the key of/],
    ['no key', () => ({ ...worker, key: worker.cert }), /no readable key/],
    ['no authority', () => ({ ...worker, ca: worker.key }), /holds no certificate/],
    ['an authority that is none', () => ({ ...worker, ca: worker.cert }), /is no authority/],
    ['without a role', () => authority.sign('plain', { names: ['DNS:localhost'] }), /names no role/],
  ])('that are wrong are named: %s', (_, files, message) => {
    expect(() => new TlsCredentials(files())).toThrow(TlsFault);
    expect(() => new TlsCredentials(files())).toThrow(message);
  });
});

describe('a list of revoked certificates', () => {
  const lone = new TestAuthority(mkdtempSync(join(folder, 'r')), 'lone');
  const names = ['DNS:localhost', 'URI:headrace://role/worker', 'URI:headrace://role/runner'];
  const [one, two, three] = ['one', 'two', 'three'].map((name) => lone.sign(name, { names })) as [
    TlsFiles,
    TlsFiles,
    TlsFiles,
  ];

  test('ends the connections of whom it names, on both sides, and no others', async () => {
    const crl = lone.revoke([], { name: 'grows' });
    const tls = new TlsCredentials({ ...one, crl });
    const [own, other] = [await listening({ ...one, crl }, ['worker']), await listening(two, ['worker'])];
    const to = (port: number, by: TlsCredentials) =>
      connectTls({ host: 'localhost', port, tls: by }, { role: 'runner' });
    const [out, into, third] = [
      await to(other.port, tls),
      await to(own.port, new TlsCredentials(two)),
      await to(own.port, new TlsCredentials(three)),
    ];
    for (const socket of [out, into, third]) socket.on('error', () => {}).resume();
    const ended = Promise.all([once(out, 'close'), once(into, 'close')]);
    lone.revoke([two], { name: 'grows' });
    await ended;
    expect(third.destroyed).toBe(false);
    third.destroy();
    await expect(to(other.port, tls)).rejects.toThrow(/revoked/);
    expect(await ask(own.port, two)).not.toMatch(/HTTP/);
    expect(own.requests).toEqual([]);
    expect(await ask(own.port, three)).toMatch(/200 OK/);
  }, 30_000);

  test('says for how long it counts; one that is out of date has everybody refused', async () => {
    const crl = lone.revoke([one], { name: 'stale', days: -1 });
    const tls = new TlsCredentials({ ...two, crl });
    expect(tls.goodUntil).toEqual(new Date('2025-01-02T00:00:00Z'));
    expect(ownFaults(tls, { roles: ['worker'] })).toEqual([
      expect.stringMatching(/stale\.crl is out of date since 2025-01-02T00:00:00\.000Z/),
    ]);
    const { port } = await listening({ ...two, crl }, ['worker']);
    expect(await ask(port, three)).not.toMatch(/HTTP/);
    const revoked = new TlsCredentials({ ...one, crl: lone.revoke([one], { name: 'own' }) });
    expect(ownFaults(revoked, { roles: ['worker'] })).toEqual([
      expect.stringMatching(/one\.crt is revoked, by/),
    ]);
  });

  test.each<[string, () => string, RegExp]>([
    ['none', () => one.cert, /no readable list/],
    ['missing', () => join(folder, 'none.crl'), /list of revoked certificates cannot be read/],
    ['of another authority', () => authority.revoke([]), /holds no list of the authority CN=lone/],
  ])('that is wrong is named: %s', (_, crl, message) => {
    expect(() => new TlsCredentials({ ...one, crl: crl() })).toThrow(message);
  });
});

test('a name that looks like several is one', () => {
  const { cert } = authority.sign('tricky', { names: ['DNS:a'] });
  expect(rolesOf(new X509Certificate(readFileSync(cert)))).toEqual([]);
  const shown = (subjectAltName: string) => rolesOf({ subjectAltName } as X509Certificate);
  expect(shown('DNS:a, URI:headrace://role/worker, IP Address:10.0.0.1')).toEqual(['worker']);
  expect(shown('DNS:"a, URI:headrace://role/worker, b"')).toEqual([]);
  expect(shown('DNS:"a\\", URI:headrace://role/worker, \\"b", URI:headrace://role/api')).toEqual(['api']);
  expect(shown('URI:headrace://role/worker/api')).toEqual([]);
  expect(shown('URI:headrace://role/worker, DNS:"a')).toEqual([]);
});

test('addresses', () => {
  expect(parseAddress('worker.example:4402')).toEqual({ host: 'worker.example', port: 4402 });
  expect(parseAddress('[::1]:1')).toEqual({ host: '::1', port: 1 });
  for (const text of ['a', 'a:0', 'a:65536', '::1:1', '[a]:1', 'https://a:1', 'a b:1', ':1'])
    expect(parseAddress(text)).toBe(null);
});

test('where none of several addresses accepts, the error says why', async () => {
  const both = [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ];
  const lookup = vi.spyOn(dns, 'lookup');
  onTestFinished(() => lookup.mockRestore());
  lookup.mockImplementation(((_host: string, _options: unknown, done: (...found: unknown[]) => void) =>
    done(null, both)) as unknown as typeof dns.lookup);
  const target = { host: 'both.test', port: 1, tls: new TlsCredentials(worker) };
  await expect(connectTls(target, { role: 'runner' })).rejects.toThrow('connect ECONNREFUSED 127.0.0.1:1');
});
