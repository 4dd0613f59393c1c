/** The two addresses of the database, with Debian's PgBouncer in transaction mode. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aptInstall, mayInstall } from '../../../../scripts/apt.mjs';
import { startTestServer } from '../service.fixture.ts';
import { connectionsOf } from './connections.ts';
import { createTestDatabase } from './database.fixture.ts';
import type { TestDatabase } from './database.fixture.ts';

/** Debian's has a folder that not every PATH has. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
const isThere = () => !spawnSync('pgbouncer', ['--version'], { env }).error;
if (!isThere() && mayInstall()) aptInstall('pgbouncer');
const isMissing = !isThere();
if (isMissing) process.stderr.write('SKIPPED, the connection pooler: apt-get install pgbouncer to run it\n');

let database: TestDatabase;
let direct: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const { host, port, user, database: name } = database.connection;
  direct = `postgresql:///${name}?${new URLSearchParams({ host, port: String(port), user }).toString()}`;
});
afterAll(() => database?.drop());

test('one address is both, and needs no pooler', async () => {
  const {
    pooled,
    direct: same,
    warnings,
  } = await connectionsOf({ databaseUrl: direct, databaseDirectUrl: null });
  expect(pooled).toBe(same);
  expect(warnings).toEqual([]);
});

test('an address that leads nowhere is named by its variable', async () => {
  const nowhere = 'postgresql://kim:hidden@127.0.0.1:1/shop';
  const refusal = (urls: Parameters<typeof connectionsOf>[0]) =>
    connectionsOf(urls).then(
      () => 'none',
      (error: Error) => error.message,
    );
  expect(await refusal({ databaseUrl: nowhere, databaseDirectUrl: null })).toMatch(
    /^DATABASE_URL: .*ECONNREFUSED/,
  );
  expect(await refusal({ databaseUrl: direct, databaseDirectUrl: nowhere })).toMatch(
    /^DATABASE_DIRECT_URL: .*ECONNREFUSED/,
  );
  expect(await refusal({ databaseUrl: nowhere, databaseDirectUrl: direct })).toMatch(
    /^DATABASE_URL: .*ECONNREFUSED/,
  );
});

describe.skipIf(isMissing)('behind PgBouncer in transaction mode', () => {
  let pooler: Pooler;
  beforeAll(async () => {
    pooler = await startPooler(database);
  }, 60_000);
  afterAll(() => pooler?.stop());

  test('as the direct address it is refused, which a held lock alone would not show', async () => {
    await expect(connectionsOf({ databaseUrl: pooler.url, databaseDirectUrl: null })).rejects.toThrow(
      /^DATABASE_URL: two connections got the same session lock.*Set DATABASE_DIRECT_URL/,
    );
    await expect(connectionsOf({ databaseUrl: direct, databaseDirectUrl: pooler.url })).rejects.toThrow(
      /^DATABASE_DIRECT_URL: /,
    );
    // Other work on the pooler's connections: the second client gets another one, and only LISTEN tells.
    const busy = new Client(pooler.url);
    await busy.connect();
    const holding = new Client(pooler.url);
    await holding.connect();
    await busy.query('begin');
    await expect(connectionsOf({ databaseUrl: pooler.url, databaseDirectUrl: null })).rejects.toThrow(
      /DATABASE_DIRECT_URL/,
    );
    await busy.query('commit');
    await Promise.all([busy.end(), holding.end()]);
  });

  test('a service works through it, without names where they clash', async () => {
    const { warnings } = await connectionsOf({ databaseUrl: pooler.url, databaseDirectUrl: direct });
    expect(warnings.length).toBe(pooler.keepsNames ? 0 : 1);
    const s = await startTestServer({
      DATABASE_URL: pooler.url,
      DATABASE_DIRECT_URL: direct,
      HEADRACE_DATABASE_CONNECTIONS: '6',
    });
    try {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) => s.call('POST', '/api/platform/v1/apps', { name: `app ${n}` })),
      );
      expect(answers.map(({ status, text }) => (status === 201 ? 201 : text))).toEqual(
        answers.map(() => 201),
      );
      const list = await s.call('GET', '/api/platform/v1/apps?limit=100');
      expect(list.body.apps).toHaveLength(40);
      expect((await s.call('GET', '/health/ready')).status).toBe(200);
    } finally {
      await s.close();
    }
  }, 60_000);
});

interface Pooler {
  url: string;
  /** PgBouncer 1.21 and newer. */
  keepsNames: boolean;
  stop(): Promise<void>;
}

async function startPooler({ connection }: TestDatabase): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-pooler-'));
  const port = await freePort();
  const { host, port: serverPort, user, database: name } = connection;
  const [major, minor] = (
    /PgBouncer (\d+)\.(\d+)/.exec(spawnSync('pgbouncer', ['--version'], { env }).stdout.toString()) ?? []
  )
    .slice(1)
    .map(Number);
  const keepsNames = major! > 1 || minor! >= 21;
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    [
      '[databases]',
      `${name} = host=${host} port=${serverPort} dbname=${name} user=${user}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 4',
      'unix_socket_dir =',
      ...(keepsNames ? ['max_prepared_statements = 100'] : []),
    ].join('\n'),
  );
  chmodSync(folder, 0o755);
  // The server's socket is in a folder of its user alone, which root may enter; PgBouncer refuses to run as root.
  const argv = ['pgbouncer', '-q', join(folder, 'pgbouncer.ini')];
  const [command, ...args] =
    process.getuid!() === 0
      ? [
          'setpriv',
          '--reuid=65534',
          '--regid=65534',
          '--clear-groups',
          '--inh-caps=-all,+dac_override',
          '--ambient-caps=-all,+dac_override',
          '--securebits=+no_setuid_fixup',
          '--',
          ...argv,
        ]
      : argv;
  const child: ChildProcess = spawn(command!, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr!.on('data', (part: Buffer) => (said += part.toString()));
  const url = `postgresql://${user}@127.0.0.1:${port}/${name}`;
  for (const deadline = performance.now() + 20_000; ; await sleep(50)) {
    const client = new Client(url);
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
      break;
    } catch (error) {
      if (performance.now() > deadline || child.exitCode !== null)
        throw new Error(`PgBouncer does not answer: ${said}`, { cause: error });
    } finally {
      await client.end().catch(() => {});
    }
  }
  return {
    url,
    keepsNames,
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
