/**
 * The limiter on a real database: several processes' worth of them, each with a bus and connections of its
 * own.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout } from 'node:timers/promises';
import pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBus } from '../bus.ts';
import type { Bus } from '../bus.ts';
import { createTestDatabase } from '../db/database.fixture.ts';
import type { TestDatabase } from '../db/database.fixture.ts';
import { openLimits } from './limits.ts';
import type { Limits } from './limits.ts';
import { openWindowStore } from './store.ts';
import type { WindowStore } from './store.ts';
import { renew } from './window.ts';
import type { Shares } from './window.ts';

let database: TestDatabase;
const opened: { limits: Limits; bus: Bus }[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(
    opened.map(async ({ limits, bus }) => {
      await limits.close();
      await bus.close();
    }),
  );
  await database?.drop();
});

async function newProcess(store: WindowStore = openWindowStore(database.connection)): Promise<Limits> {
  const id = `wrk_${randomUUID()}`;
  const bus = await openBus(database.connection, id, pino({ level: 'silent' }));
  const limits = openLimits(store, bus, id, { warn: () => {} });
  opened.push({ limits, bus });
  return limits;
}

const allowedOf = (states: { verdict: string }[]) => states.filter((s) => s.verdict === 'allowed').length;

test('one process: a bucket is full after its limit, tells what remains, and has room as requests leave the window', async () => {
  const limiter = (await newProcess()).limiter(randomUUID(), 3, 1);
  const from = Date.now();
  const states = [
    await limiter.take('k'),
    await limiter.take('k'),
    await limiter.take('k'),
    await limiter.take('k'),
  ];
  expect(states.map((s) => [s.verdict, s.remaining, s.resetSeconds])).toEqual([
    ['allowed', 2, 1],
    ['allowed', 1, 1],
    ['allowed', 0, 1],
    ['refused', 0, 1],
  ]);
  expect(await limiter.take('other')).toMatchObject({
    verdict: 'allowed',
    remaining: 2,
    limit: 3,
    windowSeconds: 1,
  });
  await expect
    .poll(async () => (await limiter.take('k')).verdict, { timeout: 5_000, interval: 20 })
    .toBe('allowed');
  expect(Date.now() - from).toBeGreaterThanOrEqual(1_000);
});

test('refused requests and glances do not count; what is given back does not either', async () => {
  const limiter = (await newProcess()).limiter(randomUUID(), 2, 60);
  expect(limiter.peek('k')).toMatchObject({ remaining: 2, resetSeconds: 0 });
  await limiter.take('k');
  await limiter.take('k');
  limiter.giveBack('k');
  expect(limiter.peek('k').remaining).toBe(1);
  expect((await limiter.take('k')).verdict).toBe('allowed');
  for (let i = 0; i < 20; i++) expect((await limiter.take('k')).verdict).toBe('refused');
  expect(limiter.peek('k')).toMatchObject({ remaining: 0, resetSeconds: 60 });
});

test('two processes in turn: all of the limit, and not one more', async () => {
  const name = randomUUID();
  for (const limit of [1, 7, 30, 200]) {
    const [one, two] = [
      (await newProcess()).limiter(`${name}-${limit}`, limit, 60),
      (await newProcess()).limiter(`${name}-${limit}`, limit, 60),
    ];
    const states = [];
    for (let i = 0; i < limit + 5; i++) states.push(await (i % 2 ? one : two).take('k'));
    expect(
      states.slice(0, limit).every((s) => s.verdict === 'allowed'),
      `limit ${limit}`,
    ).toBe(true);
    expect(allowedOf(states), `limit ${limit}`).toBe(limit);
  }
});

test('what an idle process holds is given to one that needs it', async () => {
  const name = randomUUID();
  const [idle, busy] = [
    (await newProcess()).limiter(name, 80, 60),
    (await newProcess()).limiter(name, 80, 60),
  ];
  expect((await idle.take('k')).verdict).toBe('allowed');
  const states = [];
  for (let i = 0; i < 79; i++) states.push(await busy.take('k'));
  expect(allowedOf(states)).toBe(79);
  expect(states.at(-1)!.remaining).toBe(0);
  expect([(await busy.take('k')).verdict, (await idle.take('k')).verdict]).toEqual(['refused', 'refused']);
});

test('four processes at once: no window has more than the limit', async () => {
  const name = randomUUID();
  const limiters = (await Promise.all(Array.from({ length: 4 }, () => newProcess()))).map((limits) =>
    limits.limiter(name, 40, 1),
  );
  const counted: { sent: number; answered: number }[] = [];
  const end = Date.now() + 3_500;
  await Promise.all(
    limiters.map(async (limiter) => {
      while (Date.now() < end) {
        const sent = performance.now();
        const states = await Promise.all(Array.from({ length: 5 }, () => limiter.take('k')));
        const answered = performance.now();
        for (const { verdict } of states) if (verdict === 'allowed') counted.push({ sent, answered });
        await setImmediate();
      }
    }),
  );
  expect(counted.length).toBeGreaterThanOrEqual(100);
  // Each was counted between its two times: those that lie wholly within a second were in one window.
  for (const { sent } of counted)
    expect(counted.filter((c) => c.sent >= sent && c.answered < sent + 1_000).length).toBeLessThanOrEqual(40);
});

test('a store that answers slowly, after it answered fast, lets nobody in early', async () => {
  const windows = new Map<string, Shares>();
  let takes = 0; // ms until it reads its clock
  const renewing: WindowStore['renew'] = async (bucket, renewal, limit, windowMs) => {
    await setTimeout(takes);
    const now = performance.now() + 1e9;
    const renewed = renew(windows.get(bucket) ?? {}, renewal, { now, limit, windowMs });
    windows.set(bucket, renewed.shares);
    return { ...renewed, now };
  };
  const limiter = (
    await newProcess({ renew: renewing, purge: () => Promise.resolve(), close: () => Promise.resolve() })
  ).limiter(randomUUID(), 1, 1);
  const from = performance.now();
  expect((await limiter.take('k')).verdict).toBe('allowed');
  takes = 750;
  await limiter.take('another');
  takes = 0;
  await expect
    .poll(async () => (await limiter.take('k')).verdict, { timeout: 5_000, interval: 5 })
    .toBe('allowed');
  expect(performance.now() - from).toBeGreaterThanOrEqual(1_000);
});

test('what a process has used up leaves the window in time for the others too', async () => {
  const name = randomUUID();
  const [one, two] = [(await newProcess()).limiter(name, 4, 1), (await newProcess()).limiter(name, 4, 1)];
  for (let i = 0; i < 4; i++) expect((await one.take('k')).verdict).toBe('allowed');
  const from = Date.now();
  await expect
    .poll(async () => (await two.take('k')).verdict, { timeout: 5_000, interval: 10 })
    .toBe('allowed');
  // Unreported, its last lease would have counted for half a second more.
  expect(Date.now() - from).toBeLessThan(1_450);
});

test('a process that died holds its lease no longer than that lasts, and its requests count on', async () => {
  const name = randomUUID();
  const dead = (await newProcess()).limiter(name, 16, 1);
  await dead.take('k'); // leases 2, uses 1, is never heard of again: nothing recalls it, as on a machine that is gone
  const { limits, bus } = opened.pop()!;
  await bus.close();
  const alive = (await newProcess()).limiter(name, 16, 1);
  const states = [];
  for (let i = 0; i < 16; i++) states.push(await alive.take('k'));
  expect(allowedOf(states)).toBe(14);
  await expect
    .poll(async () => allowedOf(await Promise.all(Array.from({ length: 16 }, () => alive.take('k')))), {
      timeout: 8_000,
      interval: 300,
    })
    .toBeGreaterThan(0);
  await limits.close();
});

test('a process that stops gives back what it did not use', async () => {
  const name = randomUUID();
  const stopping = await newProcess();
  await stopping.limiter(name, 80, 60).take('k');
  opened.pop()!;
  await stopping.close();
  const next = (await newProcess()).limiter(name, 80, 60);
  expect(await next.take('k')).toMatchObject({ verdict: 'allowed', remaining: 78 });
});

test('a key in use costs far fewer renewals than requests', async () => {
  let renewals = 0;
  const store = openWindowStore(database.connection);
  const limiter = (
    await newProcess({
      ...store,
      renew: (...of) => {
        renewals++;
        return store.renew(...of);
      },
    })
  ).limiter(randomUUID(), 600, 60);
  for (let i = 0; i < 600; i++) expect((await limiter.take('k')).remaining).toBe(599 - i);
  expect((await limiter.take('k')).verdict).toBe('refused');
  expect(renewals).toBeLessThan(60);
  const asked = renewals;
  for (let i = 0; i < 100; i++) await limiter.take('k');
  expect(renewals).toBe(asked);
});

test('without its store nothing is let through, fast, and all is well again once it answers', async () => {
  const store = openWindowStore(database.connection);
  let isAway = false;
  const limits = await newProcess({
    ...store,
    renew: (...of) => (isAway ? Promise.reject(new Error('away')) : store.renew(...of)),
  });
  const limiter = limits.limiter(randomUUID(), 100, 60);
  expect((await limiter.take('k')).verdict).toBe('allowed');
  isAway = true;
  expect(await limiter.take('new')).toMatchObject({
    verdict: 'away',
    limit: 100,
    remaining: 0,
    resetSeconds: 1,
    windowSeconds: 60,
  });
  // Also where a lease is left.
  expect((await limiter.take('k')).verdict).toBe('away');
  isAway = false;
  await expect
    .poll(async () => (await limiter.take('k')).verdict, { timeout: 2_000, interval: 20 })
    .toBe('allowed');
});

test('a database that was killed is noticed by the lost connection, before a lease lets anybody through', async () => {
  const limits = await newProcess();
  const limiter = limits.limiter(randomUUID(), 100, 60);
  const { bus } = opened.at(-1)!;
  expect((await limiter.take('k')).verdict).toBe('allowed');
  const admin = new pg.Client(database.connection);
  await admin.connect();
  const name = randomUUID().slice(0, 8);
  await admin.query(`alter table rate_windows rename to "away_${name}"`);
  await admin.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await expect.poll(() => bus.isConnected(), { timeout: 2_000, interval: 5 }).toBe(false);
  expect((await limiter.take('k')).verdict).toBe('away');
  await admin.query(`alter table "away_${name}" rename to rate_windows`);
  await admin.end();
  await expect
    .poll(async () => (await limiter.take('k')).verdict, { timeout: 5_000, interval: 20 })
    .toBe('allowed');
});

test('windows in which nothing counts are forgotten', async () => {
  const limits = await newProcess();
  const [name, admin] = [randomUUID(), new pg.Client(database.connection)];
  await admin.connect();
  await limits.limiter(name, 10, 1).take('k');
  const rows = async () =>
    (await admin.query('select 1 from rate_windows where bucket = $1', [`${name} k`])).rowCount;
  expect(await rows()).toBe(1);
  await expect
    .poll(
      async () => {
        await limits.probe();
        return rows();
      },
      { timeout: 12_000, interval: 100 },
    )
    .toBe(0);
  await admin.end();
});
