/** For tests: a service whose runners are processes of their own, on loopback ports, with certificates of a test authority. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestAuthority } from '../../../runner/src/tls/certificates.fixture.ts';
import { IN_OWN_MOUNTS, runnerEnv } from '../../../runner/src/client/own-mounts.ts';
import { runnerProgram } from '../../../runner/src/client/runner-program.ts';
import type { MachineOptions } from '../../../runner/src/machine/options.ts';
import type { KnownRunner } from '../runner/store.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { until } from '../threads/threads.fixture.ts';

const opened: (() => Promise<unknown> | void)[] = [];

/** Ends all that was started, the last first. */
export async function closeFleet(): Promise<void> {
  for (const close of opened.splice(0).toReversed()) await close();
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export interface TestRunner {
  bootId: string;
  child: ChildProcess;
  kill(signal: NodeJS.Signals): void;
}

export interface TestFleet {
  s: TestServer;
  authority: TestAuthority;
  /** Of the worker's listener. */
  port: number;
  /** Starts a runner, and waits until it is registered. */
  runner(name: string, options?: Partial<MachineOptions>): Promise<TestRunner>;
  /** A further process of the service on the same database. */
  beside(roles: string): Promise<{ s: TestServer; port: number }>;
  row(bootId: string): Promise<KnownRunner>;
}

/**
 * A service without a runner, with the roles api and worker, or others. Its processes refuse whom `authority.revoke` names
 * from then on.
 */
export async function startFleet(env: Record<string, string> = {}, first = 'api,worker'): Promise<TestFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-fleet-'));
  opened.push(() => rmSync(folder, { recursive: true, force: true }));
  const authority = new TestAuthority(folder);
  const revoked = authority.revoke([]);
  const envOf = async (roles: string, port: number) => {
    const api = `127.0.0.1:${await freePort()}`;
    const { cert, key, ca } = authority.of(...roles.split(',').toSorted());
    return {
      HEADRACE_ROLES: roles,
      HEADRACE_TLS_CERT_FILE: cert,
      HEADRACE_TLS_KEY_FILE: key,
      HEADRACE_TLS_CA_FILE: ca,
      HEADRACE_TLS_CRL_FILE: revoked,
      HEADRACE_API_LISTEN: api,
      HEADRACE_API_ADDRESS: api,
      HEADRACE_WORKER_LISTEN: `127.0.0.1:${port}`,
      ...env,
    };
  };
  const port = await freePort();
  const s = await startTestServer(await envOf(first, port));
  const ports = [port];
  opened.push(() => s.close());
  const rowOf = (by: { name: string } | { boot_id: string }) =>
    s.service.ctx.db
      .selectFrom('runners')
      .selectAll()
      .where((eb) => eb.and(by))
      .orderBy('first_seen_at', 'desc')
      .executeTakeFirst();
  return {
    s,
    authority,
    port,
    async runner(name, options = {}) {
      const listen = { host: '127.0.0.1', port: await freePort() };
      const machine: MachineOptions = {
        name,
        listen,
        address: `127.0.0.1:${listen.port}`,
        workers: ports.map((one) => ({ host: '127.0.0.1', port: one })),
        tls: authority.of('runner'),
        pool: 'default',
        capacity: 4,
        drainSeconds: 30,
        limits: 'best-effort',
        ...options,
      };
      const dir = mkdtempSync(join(tmpdir(), 'hr-node-'));
      const child = await startRunner(dir, machine);
      opened.push(async () => {
        if (child.exitCode === null && child.signalCode === null) {
          child.kill('SIGCONT');
          child.kill('SIGINT');
          await once(child, 'exit');
        }
        rmSync(dir, { recursive: true, force: true });
      });
      const { boot_id: bootId } = await until(`${name} to register`, () => rowOf({ name }));
      return { bootId, child, kill: (signal) => void child.kill(signal) };
    },
    async beside(roles) {
      const own = await freePort();
      const other = await startTestServer(await envOf(roles, own), s);
      if (roles.includes('worker')) ports.push(own);
      opened.push(() => other.close());
      return { s: other, port: own };
    },
    row: async (bootId) => (await rowOf({ boot_id: bootId }))!,
  };
}

async function startRunner(dir: string, machine: MachineOptions): Promise<ChildProcess> {
  const args = ['--disable-warning=ExperimentalWarning', await runnerProgram(dir), '--dir', dir];
  args.push('--machine', JSON.stringify(machine));
  const child = spawn('/bin/sh', ['-c', IN_OWN_MOUNTS, 'sh', process.execPath, ...args], {
    env: runnerEnv(),
    cwd: '/',
    stdio: ['pipe', 'pipe', process.env.HEADRACE_TEST_LOG ? 'inherit' : 'ignore'],
  });
  child.stdin.on('error', () => {});
  await once(child.stdout, 'data');
  return child;
}
