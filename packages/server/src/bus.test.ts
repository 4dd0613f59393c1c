import { randomUUID } from 'node:crypto';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openBus } from './bus.ts';
import type { Bus } from './bus.ts';
import { createTestDatabase } from './db/database.fixture.ts';
import type { TestDatabase } from './db/database.fixture.ts';

let database: TestDatabase;
const buses: Bus[] = [];
const log = pino({ level: 'silent' });
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database?.drop();
});
afterEach(async () => {
  await Promise.all(buses.splice(0).map((bus) => bus.close()));
});

async function open(connection: pg.PoolConfig = database.connection): Promise<Bus> {
  const bus = await openBus(connection, `wrk_${randomUUID()}`, log);
  buses.push(bus);
  return bus;
}

test('a message reaches this process at once and the others soon, each once', async () => {
  const [one, other] = [await open(), await open()];
  const [own, far, elsewhere] = [vi.fn(), vi.fn(), vi.fn()];
  one.listen('jobs', own);
  other.listen('jobs', far);
  other.listen('events', elsewhere);
  one.notify('jobs', 'job with spaces');
  expect(own.mock.calls).toEqual([['job with spaces']]);
  await vi.waitFor(() => expect(far.mock.calls).toEqual([['job with spaces']]));
  // What comes back from the database is not heard a second time: another message overtakes it.
  other.notify('jobs');
  await vi.waitFor(() => expect(own.mock.calls).toEqual([['job with spaces'], ['']]));
  expect(elsewhere).not.toHaveBeenCalled();
});

test('equal messages are one to the others, different ones are all told', async () => {
  const [one, other] = [await open(), await open()];
  const far = vi.fn();
  other.listen('operations', far);
  for (let i = 0; i < 1000; i++) one.notify('operations', `op_${i % 10}`);
  await vi.waitFor(() => expect(new Set(far.mock.calls.map(([payload]) => payload)).size).toBe(10));
  expect(far.mock.calls.length).toBe(10);
});

test('among many processes a busy one sends few notifications, which hold all its hints; a quiet one waits for nothing', async () => {
  const [one, other] = [await open(), await open()];
  const far = vi.fn();
  other.listen('control', far);
  const client = new pg.Client(database.connection);
  await client.connect();
  try {
    let notifications = 0;
    client.on('notification', () => {
      notifications++;
    });
    await client.query('listen headrace_control');
    // One in 200 ms then.
    one.setProcesses(640);
    const from = performance.now();
    one.notify('control', 'thr_first');
    await vi.waitFor(() => expect(far).toHaveBeenCalledWith('thr_first'), { interval: 1 });
    const ids: string[] = [];
    const sending = setInterval(() => {
      ids.push(`thr_${ids.length} ${'x'.repeat(20)}`);
      one.notify('control', ids.at(-1));
    }, 2);
    await vi.waitFor(() => expect(ids.length).toBeGreaterThan(150), { timeout: 10_000 });
    clearInterval(sending);
    await vi.waitFor(() => expect(far.mock.calls.slice(1).map(([hint]) => hint as string)).toEqual(ids), {
      timeout: 5_000,
    });
    // Each holds 4,000 bytes at most; and the first waited for none.
    expect(notifications).toBeLessThan(
      3 + Math.ceil((performance.now() - from) / 200) + (ids.length * 30) / 3_900,
    );
  } finally {
    await client.end();
  }
});

test('hints that are longer than a notification go in several', async () => {
  const [one, other] = [await open(), await open()];
  const far = vi.fn();
  other.listen('control', far);
  const long = Array.from({ length: 40 }, (_, n) => `${n} ${'y'.repeat(700)}`);
  for (const hint of long) one.notify('control', hint);
  await vi.waitFor(() => expect(far.mock.calls.map(([hint]) => hint as string)).toEqual(long));
});

test('who ended listening hears no more; a process that closes still tells what it had to tell', async () => {
  const [one, other] = [await open(), await open()];
  const [own, far] = [vi.fn(), vi.fn()];
  const stop = one.listen('schedules', own);
  other.listen('schedules', far);
  stop();
  one.notify('schedules', 'last');
  await one.close();
  await vi.waitFor(() => expect(far).toHaveBeenCalledWith('last'));
  expect(own).not.toHaveBeenCalled();
});

test('a lost connection comes back, says so, and is heard again', async () => {
  const [one, other] = [await open(), await open()];
  const [back, far] = [vi.fn(), vi.fn()];
  other.onReconnect(back);
  other.listen('accounts', far);
  const client = new pg.Client(database.connection);
  await client.connect();
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'headrace-bus %'",
  );
  await client.end();
  await vi.waitFor(() => expect(back).toHaveBeenCalled(), { timeout: 5_000 });
  await vi.waitFor(
    () => {
      one.notify('accounts', 'org_1');
      expect(far).toHaveBeenCalledWith('org_1');
    },
    { timeout: 5_000, interval: 50 },
  );
});

test('while the database is away it is tried twice a second, and then there is one connection, not several', async () => {
  const { host, port } = database.connection as { host: string; port: number };
  const arrivals: number[] = [];
  const open_ = new Set<Socket>();
  let isUp = true;
  const proxy = createServer((socket) => {
    arrivals.push(performance.now());
    socket.on('error', () => {});
    if (!isUp) return void socket.destroy();
    const upstream = connect(
      host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port },
    );
    upstream.on('error', () => {});
    open_.add(socket);
    socket.on('close', () => {
      open_.delete(socket);
      upstream.destroy();
    });
    upstream.on('close', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  try {
    const bus = await open({
      ...database.connection,
      host: '127.0.0.1',
      port: (proxy.address() as AddressInfo).port,
    });
    const back = vi.fn();
    bus.onReconnect(back);
    isUp = false;
    arrivals.length = 0;
    for (const socket of open_) socket.destroy();
    await vi.waitFor(() => expect(arrivals.length).toBeGreaterThanOrEqual(5), { timeout: 10_000 });
    expect(arrivals[4]! - arrivals[0]!).toBeGreaterThan(4 * 450);
    isUp = true;
    await vi.waitFor(() => expect(back).toHaveBeenCalled(), { timeout: 5_000 });
    expect(open_.size).toBe(1);
    expect(back).toHaveBeenCalledTimes(1);
  } finally {
    await Promise.all(buses.splice(0).map((bus) => bus.close()));
    proxy.close();
  }
});
