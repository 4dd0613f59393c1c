import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EmbeddedPostgres } from './index.ts';
import { lockDataDir, startEmbeddedPostgres } from './index.ts';
import { placeOf } from './place.ts';
import { findProcesses, stopProcesses } from './processes.ts';

const log = { info: () => {}, warn: () => {}, error: () => {} };
const settings = { shared_buffers: '16MB' };
let dataDir: string;
const place = () => placeOf(dataDir, settings, '');

beforeEach(() => {
  // Below a 0700 folder, as mkdtemp makes them; a space and a comma in the path.
  const parent = mkdtempSync(join(tmpdir(), 'headrace-embedded-'));
  dataDir = join(parent, 'data, one');
  mkdirSync(dataDir);
});
afterEach(async () => {
  await stopProcesses(place());
  rmSync(place().socketDir, { recursive: true, force: true });
  rmSync(join(dataDir, '..'), { recursive: true, force: true });
});

const start = (more: { onStatus?: (status: string) => void; settings?: Record<string, string> } = {}) =>
  startEmbeddedPostgres({ dataDir, log, settings, ...more });

async function open(server: EmbeddedPostgres): Promise<Client> {
  const client = new Client(server.connection);
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function query(server: EmbeddedPostgres, sql: string): Promise<unknown> {
  const client = await open(server);
  try {
    return Object.values((await client.query<Record<string, unknown>>(sql)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; !(await condition()); i++) {
    if (i === 1000) throw new Error('it did not become true');
    await sleep(10);
  }
}

/**
 * Runs a module in a process of its own that can be killed; resolves with the process once it has printed a
 * line.
 */
async function processThat(code: string) {
  const file = join(dataDir, '..', 'process.ts');
  const imported = JSON.stringify(new URL('./index.ts', import.meta.url).href);
  writeFileSync(
    file,
    `import { lockDataDir, startEmbeddedPostgres } from ${imported};\nconst dataDir = ${JSON.stringify(dataDir)};\n${code}\nconsole.log('done'); setInterval(() => {}, 1000);`,
  );
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

describe('start and stop', () => {
  test('keeps data over a stop, leaves no process, listens on a private socket only', async () => {
    const first = await start();
    await query(first, 'create table t as select 42 as n');
    expect(await query(first, 'show listen_addresses')).toBe('');
    expect(await query(first, 'show fsync')).toBe('on');
    expect(
      await query(
        first,
        "select datcollate || ' ' || pg_encoding_to_char(encoding) from pg_database where datname = current_database()",
      ),
    ).toBe('C UTF8');
    expect(statSync(first.connection.host).mode & 0o777).toBe(0o700);
    await first.stop();
    expect(findProcesses(place())).toEqual({ postmaster: null, children: [] });

    const second = await start();
    expect(await query(second, 'select n from t')).toBe(42);
    await second.stop();
  });

  test.runIf(process.getuid?.() === 0)('as root the server runs as an unprivileged user', async () => {
    const server = await start();
    const status = readFileSync(`/proc/${findProcesses(place()).postmaster}/status`, 'utf8');
    expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(String(statSync(place().cluster).uid));
    expect(/^Uid:\s+0\b/m.test(status)).toBe(false);
    // Passing through folders, and nothing else.
    expect(/^CapEff:\s+([0-9a-f]+)/m.exec(status)?.[1]).toMatch(/^0{15}[42]$/);
    await server.stop();
  });

  test('a data folder too deep for a socket path gets its socket elsewhere', async () => {
    dataDir = join(dataDir, 'd'.repeat(100));
    const server = await start();
    expect(server.connection.host).toMatch(/^\/tmp\/headrace-/);
    expect(await query(server, 'select 1')).toBe(1);
    await server.stop();
    dataDir = join(dataDir, '..');
  });

  test('another major version is refused with the commands that bring the data over', async () => {
    mkdirSync(place().cluster);
    writeFileSync(join(place().cluster, 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow(/PostgreSQL 17.*backup DIR.*restore DIR/s);
    expect(readdirSync(place().cluster)).toEqual(['PG_VERSION']);
  });

  test('a start that was killed while making the database is made good', async () => {
    mkdirSync(`${place().cluster}.new`);
    writeFileSync(`${place().cluster}.new/PG_VERSION`, '18\n');
    const server = await start();
    expect(await query(server, 'select 1')).toBe(1);
    await server.stop();
  });

  test("a stale process id that is somebody else's by now does not hinder the start", async () => {
    await (await start()).stop();
    writeFileSync(join(place().cluster, 'postmaster.pid'), `${process.pid}\n${place().cluster}\n`);
    const server = await start();
    expect(await query(server, 'select 1')).toBe(1);
    await server.stop();
  });
});

describe('after kill -9', () => {
  test('of the service, the next one adopts the server', async () => {
    const child = await processThat(
      `await startEmbeddedPostgres({ dataDir, log: console, settings: ${JSON.stringify(settings)} });`,
    );
    const before = findProcesses(place()).postmaster;
    await kill(child);
    const server = await start();
    expect(findProcesses(place()).postmaster).toBe(before);
    expect(await query(server, 'select 1')).toBe(1);
    await server.stop();
    expect(findProcesses(place()).postmaster).toBeNull();
  });

  test('of the service, a server with other settings is replaced', async () => {
    const child = await processThat(
      `await startEmbeddedPostgres({ dataDir, log: console, settings: ${JSON.stringify(settings)} });`,
    );
    const before = findProcesses(place()).postmaster;
    await kill(child);
    const server = await start({ settings: { shared_buffers: '8MB' } });
    expect(findProcesses(place()).postmaster).not.toBe(before);
    expect(await query(server, 'show shared_buffers')).toBe('8MB');
    await server.stop();
  });

  test('of the postmaster with a busy backend, the server restarts', async () => {
    const seen: string[] = [];
    const server = await start({ onStatus: (status) => seen.push(status) });
    await query(server, 'create table t as select 42 as n');
    const busy = await open(server);
    const spinning = busy
      .query('do $$ declare x numeric; begin loop x := 1; end loop; end $$')
      .catch((error: Error) => error);
    await until(
      async () =>
        Number(
          await query(
            server,
            "select count(*) from pg_stat_activity where query like 'do %' and state = 'active'",
          ),
        ) === 1,
    );
    process.kill(findProcesses(place()).postmaster!, 'SIGKILL');
    await until(() => seen.includes('up'));
    expect(seen).toEqual(['down', 'up']);
    expect(await query(server, 'select n from t')).toBe(42);
    expect(await spinning).toBeInstanceOf(Error);
    await server.stop();
  });

  test('of one backend, the server resets itself and is watched further', async () => {
    const seen: string[] = [];
    const server = await start({ onStatus: (status) => seen.push(status) });
    const before = findProcesses(place()).postmaster;
    const victim = await open(server);
    process.kill(
      (await victim.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid,
      'SIGKILL',
    );
    await until(() => seen.includes('up'));
    expect(findProcesses(place()).postmaster).toBe(before);
    process.kill(before!, 'SIGKILL');
    await until(() => seen.length === 4);
    expect(seen).toEqual(['down', 'up', 'down', 'up']);
    await server.stop();
  });
});

describe('lock', () => {
  test("a second service is refused with the folder's name, until the first is gone, however it ends", async () => {
    const child = await processThat('lockDataDir(dataDir);');
    expect(() => lockDataDir(dataDir)).toThrow(dataDir);
    await kill(child);
    const unlock = lockDataDir(dataDir);
    expect(() => lockDataDir(dataDir)).toThrow(/Another Headrace service/);
    unlock();
    lockDataDir(dataDir)();
  });

  test('a folder that cannot be used is not mistaken for one in use', () => {
    const file = join(dataDir, 'file');
    writeFileSync(file, '');
    expect(() => lockDataDir(file)).toThrow(/EEXIST/);
  });
});
