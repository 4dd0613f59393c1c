import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectTls, createTlsServer, TlsCredentials } from '@headrace/runner/tls';
import type { TlsFiles, TlsRole } from '@headrace/runner/tls';

vi.setConfig({ testTimeout: 60_000 });
const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'headrace-certs-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const newFolder = () => join(mkdtempSync(join(scratch, 'd')), 'certs');

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function certs(folder: string, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [MAIN, 'certs', '--dir', folder, ...args],
      { env: { PATH: process.env.PATH, HOME: scratch }, timeout: 40_000 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 99) : 0, stdout, stderr }),
    );
  });
}

const filesOf = (folder: string, name: string): TlsFiles => ({
  cert: join(folder, `${name}.crt`),
  key: join(folder, `${name}.key`),
  ca: join(folder, 'ca.crt'),
});

/** A server with these files that lets in one role, and what dials it. */
async function server(files: TlsFiles, lets: TlsRole) {
  const listening = createTlsServer({ tls: new TlsCredentials(files), roles: [lets] }, (_, res) => {
    res.end('fine');
  });
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    listening.close();
    listening.closeAllConnections();
  });
  const { port } = listening.address() as AddressInfo;
  /** The answer to a request, which is the peer's proof: its refusal comes after this side's handshake. */
  const dial = async (own: TlsFiles, role: TlsRole): Promise<{ text: string; serial: string }> => {
    const socket = await connectTls({ host: 'localhost', port, tls: new TlsCredentials(own) }, { role });
    const serial = socket.getPeerX509Certificate()!.serialNumber;
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    let text = '';
    for await (const part of socket) text += String(part);
    return { text, serial };
  };
  return Object.assign(dial, { port });
}

describe('exit code 0', () => {
  test('an authority and certificates whose holders meet, and no others', async () => {
    const folder = newFolder();
    const worker = await certs(folder, '--role', 'worker', '--role', 'api', '--host', 'localhost');
    expect(worker).toMatchObject({ code: 0, stderr: '' });
    expect(worker.stdout).toMatch(
      /a new authority[^]*worker-api-localhost\.crt {2}worker, api; localhost; until/,
    );
    const { code, stdout } = await certs(
      folder,
      ...'--role runner --host localhost --host 127.0.0.1 --name node-1 --json'.split(' '),
    );
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        ok: true,
        isNewAuthority: false,
        certificates: [{ name: 'node-1', roles: ['runner'], hosts: ['localhost', '127.0.0.1'] }],
      },
    ]);
    expect(readdirSync(folder).toSorted()).toEqual([
      'ca.crl',
      'ca.crt',
      'ca.key',
      'node-1.crt',
      'node-1.key',
      'revoked.txt',
      'worker-api-localhost.crt',
      'worker-api-localhost.key',
    ]);
    const mode = (name: string) => (statSync(join(folder, name)).mode & 0o777).toString(8);
    expect(['.', 'ca.key', 'ca.crt', 'node-1.key', 'node-1.crt'].map(mode)).toEqual([
      '700',
      '600',
      '644',
      '600',
      '644',
    ]);
    const [service, node] = [filesOf(folder, 'worker-api-localhost'), filesOf(folder, 'node-1')];
    const dial = await server(node, 'worker');
    expect((await dial(service, 'runner')).text).toMatch(/fine$/);
    // The role that the server does not let in, and the role that it has not.
    expect((await dial(node, 'runner')).text).toBe('');
    await expect(dial(service, 'worker')).rejects.toThrow(/no certificate of the role worker/);
    const strangers = newFolder();
    await certs(strangers, '--role', 'worker', '--host', 'localhost', '--name', 'w');
    await expect(dial(filesOf(strangers, 'w'), 'runner')).rejects.toThrow();
    // Refused by the server alone: this side trusts it.
    const refused = await dial({ ...filesOf(strangers, 'w'), ca: service.ca }, 'runner').catch(() => null);
    expect(refused?.text ?? '').toBe('');
  });

  test('a renewed certificate is used by a process that runs', async () => {
    const folder = newFolder();
    await certs(folder, '--role', 'runner', '--host', 'localhost', '--name', 'node-1', '--days', '1');
    await certs(folder, '--role', 'worker', '--host', 'localhost', '--name', 'worker');
    const dial = await server(filesOf(folder, 'node-1'), 'worker');
    const { serial } = await dial(filesOf(folder, 'worker'), 'runner');
    const key = readFileSync(join(folder, 'node-1.key'), 'utf8');
    const renewed = await certs(folder, '--renew', '--name', 'node-1');
    expect(renewed).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(folder, 'node-1.key'), 'utf8')).not.toBe(key);
    await vi.waitFor(
      async () => expect((await dial(filesOf(folder, 'worker'), 'runner')).serial).not.toBe(serial),
      { timeout: 10_000, interval: 100 },
    );
    const { facts } = new TlsCredentials(filesOf(folder, 'node-1'));
    expect(facts).toMatchObject({ roles: ['runner'], hosts: ['localhost'] });
    expect(facts.expiresAt.getTime() - Date.now()).toBeGreaterThan(300 * 86_400_000);
    const all = JSON.parse((await certs(folder, '--renew', '--json')).stdout);
    expect(all.certificates.map(({ name }: { name: string }) => name)).toEqual(['node-1', 'worker']);
  });
});

test('a revoked certificate is refused by both sides in the handshake, and its open connections end', async () => {
  const folder = newFolder();
  await certs(folder, ...'--role runner --host localhost --name node-1'.split(' '));
  await certs(folder, ...'--role worker --host localhost --name worker'.split(' '));
  const crl = join(folder, 'ca.crl');
  const [node, worker] = ['node-1', 'worker'].map((name) => ({ ...filesOf(folder, name), crl })) as [
    TlsFiles,
    TlsFiles,
  ];
  const [toNode, toWorker] = [await server(node, 'worker'), await server(worker, 'runner')];
  expect((await toNode(worker, 'runner')).text).toMatch(/fine$/);
  expect((await toWorker(node, 'worker')).text).toMatch(/fine$/);
  const tls = new TlsCredentials(worker);
  const [inbound, outbound] = [
    await connectTls(
      { host: 'localhost', port: toWorker.port, tls: new TlsCredentials(filesOf(folder, 'node-1')) },
      { role: 'worker' },
    ),
    await connectTls({ host: 'localhost', port: toNode.port, tls }, { role: 'runner' }),
  ];
  const ended = Promise.all(
    [inbound, outbound].map((socket) => once(socket.on('error', () => {}).resume(), 'close')),
  );
  const revoked = await certs(folder, '--revoke', 'node-1', '--json');
  expect([revoked.code, JSON.parse(revoked.stdout)]).toMatchObject([0, { list: crl, revoked: ['node-1'] }]);
  await ended;
  // The worker's server, and the worker as a client, each with a list; the other side has none.
  expect((await toWorker(filesOf(folder, 'node-1'), 'worker').catch(() => null))?.text ?? '').toBe('');
  const plain = await server(filesOf(folder, 'node-1'), 'worker');
  await expect(plain(worker, 'runner')).rejects.toThrow(/revoked/);
  const { fault, facts, goodUntil } = new TlsCredentials(node);
  expect([fault, facts.isRevoked, goodUntil]).toEqual([null, true, facts.expiresAt]);
  // Others go on, a new one of that name too; and again it changes nothing.
  expect((await certs(folder, '--revoke', 'node-1')).code).toBe(0);
  expect(readFileSync(join(folder, 'revoked.txt'), 'utf8').match(/^R/gm)).toHaveLength(1);
  expect((await certs(folder, '--renew', '--name', 'node-1')).code).toBe(0);
  await vi.waitFor(async () => expect((await toWorker(node, 'worker')).text).toMatch(/fine$/), {
    timeout: 10_000,
  });
});

test('exit code 6: nothing that exists is overwritten', async () => {
  const folder = newFolder();
  const make = () => certs(folder, '--role', 'api', '--name', 'api');
  expect((await make()).code).toBe(0);
  const before = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const again = await make();
  expect([again.code, again.stderr]).toEqual([
    6,
    expect.stringMatching(/api\.crt exists[^]*--renew --name api/),
  ]);
  expect(readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(before);
  rmSync(join(folder, 'ca.key'));
  expect(await certs(folder, '--role', 'api', '--name', 'other')).toMatchObject({ code: 6 });
});

test.each<[string[], number, RegExp]>([
  [['--role', 'runner'], 2, /--host is missing/],
  [['--role', 'runner', '--host', 'a,URI:headrace://role/api'], 2, /no host name/],
  [['--role', 'runner', '--host', 'a', '--name', '../x'], 2, /no name for files/],
  [['--role', 'api', '--name', 'ca'], 2, /no name for files/],
  [['--host', 'a'], 2, /go with --role/],
  [['--role', 'boss'], 2, /--role/],
  [['--renew', '--role', 'api'], 2, /leave out --role/],
  [['--renew'], 5, /holds no certificate/],
  [['--revoke', 'node-1'], 5, /holds no certificate node-1/],
  [['--revoke', 'ca'], 2, /no name of a certificate/],
  [['--revoke', 'a', '--renew'], 2, /goes alone/],
])('refused: %j', async (args, code, message) => {
  const folder = newFolder();
  const ended = await certs(folder, ...args);
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
  expect(() => statSync(folder)).toThrow();
});
