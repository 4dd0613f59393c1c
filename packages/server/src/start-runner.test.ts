/** The role `runner` alone, started as an operator starts it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRunnerClient } from '@headrace/runner/client';
import { createTlsServer, TlsCredentials } from '@headrace/runner/tls';
import { readConfig } from './config.ts';
import { runRunner } from './start-runner.ts';
import { TestAuthority } from '../../runner/src/tls/certificates.fixture.ts';

vi.setConfig({ testTimeout: 60_000 });
const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'headrace-start-runner-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const authority = new TestAuthority(folder);
const runner = authority.of('runner');

function environment(files = runner): Record<string, string> {
  return {
    PATH: process.env.PATH!,
    HEADRACE_ROLES: 'runner',
    HEADRACE_DATA_DIR: join(folder, 'data'),
    HEADRACE_TLS_CERT_FILE: files.cert,
    HEADRACE_TLS_KEY_FILE: files.key,
    HEADRACE_TLS_CA_FILE: files.ca,
    HEADRACE_WORKER_ADDRESS: 'localhost:1',
    HEADRACE_RUNNER_LISTEN: '127.0.0.1:1',
    HEADRACE_RUNNER_ADDRESS: 'localhost:1',
  };
}

function start(env: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (said += part));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGINT');
    await ended;
  });
  return { child, said: () => said, ended };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

describe('it starts', () => {
  test('without a database, registers, and drains at SIGTERM', async () => {
    const [port, bodies] = [await freePort(), [] as string[]];
    const worker = createTlsServer(
      { tls: new TlsCredentials(authority.of('worker')), roles: ['runner'] },
      (req, res) => {
        let body = '';
        req.on('data', (part) => (body += String(part)));
        req.on('end', () => {
          bodies.push(`${req.method} ${body}`);
          res.end('{"leaseSeconds":60,"forget":{"tasks":[],"workspaces":[],"groups":[]}}');
        });
      },
    ).listen(0, '127.0.0.1');
    await once(worker, 'listening');
    onTestFinished(() => {
      worker.close();
      worker.closeAllConnections();
    });
    const { child, said, ended } = start({
      ...environment(),
      HEADRACE_WORKER_ADDRESS: `localhost:${(worker.address() as AddressInfo).port}`,
      HEADRACE_RUNNER_LISTEN: `127.0.0.1:${port}`,
      HEADRACE_RUNNER_ADDRESS: `localhost:${port}`,
      HEADRACE_RUNNER_POOL: 'big',
      HEADRACE_RUNNER_CAPACITY: '3',
    });
    await vi.waitFor(() => expect(bodies.length).toBeGreaterThan(0), { timeout: 40_000 });
    expect(JSON.parse(bodies[0]!.slice('PUT '.length))).toMatchObject({
      address: `localhost:${port}`,
      pool: 'big',
      capacity: 3,
    });
    await vi.waitFor(() => expect(said()).toMatch(/headrace runner listening on 127\.0\.0\.1:\d+/));
    const client = createRunnerClient({
      host: 'localhost',
      port,
      tls: new TlsCredentials(authority.of('worker')),
    });
    expect((await client.status()).id).toMatch(/^rnr_/);
    client.close();
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(bodies.at(-1)).toBe('DELETE ');
  });
});

describe('it does not start, and says why', () => {
  const read = (changed: Record<string, string>) => readConfig({ ...environment(), ...changed }, () => true);
  test.each<[string, Record<string, string>, RegExp]>([
    ['without a key', { HEADRACE_TLS_KEY_FILE: '' }, /HEADRACE_TLS_KEY_FILE: is required/],
    ['without workers', { HEADRACE_WORKER_ADDRESS: '' }, /HEADRACE_WORKER_ADDRESS: is required/],
    [
      'with workers that are none',
      { HEADRACE_WORKER_ADDRESS: 'a:1,b' },
      /HEADRACE_WORKER_ADDRESS: has to be/,
    ],
    ['with other roles', { HEADRACE_ROLES: 'api,runner' }, /the role runner is a process of its own/],
    ['with an address that is none', { HEADRACE_RUNNER_LISTEN: 'here' }, /HEADRACE_RUNNER_LISTEN: has to be/],
    ['with a pool that is none', { HEADRACE_RUNNER_POOL: 'Big one' }, /HEADRACE_RUNNER_POOL: has to be/],
    ['with no slots', { HEADRACE_RUNNER_CAPACITY: '0' }, /HEADRACE_RUNNER_CAPACITY: has to be/],
  ])('%s', (_, changed, message) => {
    expect(() => read(changed)).toThrow(message);
  });

  const stranger = new TestAuthority(mkdtempSync(join(folder, 's')));
  test.each<[string, Record<string, string>, RegExp]>([
    [
      'with a file that is missing',
      { HEADRACE_TLS_CA_FILE: '/none.crt' },
      /authority cannot be read.*none\.crt/,
    ],
    [
      'with a certificate of another role',
      environment(authority.of('api')),
      /is of the role api, not of runner/,
    ],
    [
      'with a certificate for another host',
      { HEADRACE_RUNNER_ADDRESS: 'node-7.example:4403' },
      /is not for the host node-7\.example, but for localhost, 127\.0\.0\.1/,
    ],
    [
      'with a certificate that has expired',
      environment(
        authority.sign('old', { names: ['DNS:localhost', 'URI:headrace://role/runner'], days: -1 }),
      ),
      /has expired/,
    ],
    ['with a stranger for an authority', { HEADRACE_TLS_CA_FILE: stranger.ca }, /not signed by an authority/],
  ])('%s', async (_, changed, message) => {
    const config = read(changed);
    await expect(runRunner(config, config.machines!)).rejects.toThrow(message);
  });

  test('where its port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const { said, ended } = start({ ...environment(), HEADRACE_RUNNER_LISTEN: `127.0.0.1:${port}` });
    expect(await ended).toBe(1);
    expect(said()).not.toMatch(/at .*\.ts:\d+/);
    expect(said()).toMatch(/cannot listen on 127\.0\.0\.1:\d+.*EADDRINUSE/);
  });
});
