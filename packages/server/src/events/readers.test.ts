/**
 * Readers that a process has to withstand: too many, too slow, and those whose access ends while they read.
 */
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appendEvent, transaction } from '../db/transaction.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { feedClient, framesOf, P, query, typesOn } from './feeds.fixture.ts';
import { until } from './events.fixture.ts';

let s: TestServer;
const { createApp, createProject, rename, page, pageOf, head, refused, stream, account } = feedClient(
  () => s,
);
const hub = () => s.service.ctx.events;

beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());

describe('503', () => {
  test('beyond as many readers as a process takes, streams and long polls together; one that leaves makes room; what does not wait is answered', async () => {
    const app = await createApp();
    const feed = `${P}/apps/${app}/events`;
    await pageOf(feed, 1);
    const cursor = await head(feed);
    await until(() => hub().streamCount() === 0);
    hub().maxReaders = 2;
    try {
      const open = await stream(`${feed}/stream`);
      const poll = page(feed, { cursor, waitSeconds: 20 });
      await until(() => hub().readerCount() === 2);
      const tooMany = await refused(`${feed}/stream`, 503, 'unavailable');
      expect(tooMany.headers.get('retry-after')).toBe('5');
      await refused(`${feed}?${query({ cursor, waitSeconds: 1 })}`, 503, 'unavailable');
      await page(feed, { cursor });
      await rename(app);
      expect((await poll).events.length).toBe(1);
      const second = await stream(`${feed}/stream`);
      await refused(`${feed}/stream`, 503, 'unavailable');
      open.close();
      await until(() => hub().streamCount() === 1);
      const third = await stream(`${feed}/stream`);
      expect(third.response.statusCode).toBe(200);
      second.close();
      third.close();
    } finally {
      hub().maxReaders = 10_000;
    }
  });

  test('a stream that is refused leaves no place taken', async () => {
    await until(() => hub().streamCount() === 0);
    hub().maxReaders = 1;
    try {
      const app = await createApp();
      for (let i = 0; i < 3; i++) {
        await refused(`${P}/apps/${app}/events/stream?cursor=none`, 400, 'invalid_cursor');
        await refused(`${P}/apps/${app}/events?cursor=none&waitSeconds=5`, 400, 'invalid_cursor');
        await refused(`${P}/apps/${app}/events/stream?threadId=none`, 404, 'thread_not_found');
      }
      (await stream(`${P}/apps/${app}/events/stream`)).close();
      await until(() => hub().streamCount() === 0);
    } finally {
      hub().maxReaders = 10_000;
    }
  });
});

/** Writes this many events of an app in one transaction; their `data` is as long as it may be. */
const burst = (app: string, orgId: string, count: number) =>
  transaction(s.service.ctx, async (tx) => {
    const data = {
      id: app,
      externalId: 'x'.repeat(128),
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
    };
    for (let i = 0; i < count; i++)
      appendEvent(tx, { orgId, projectId: app, feed: 'platform' }, 'platform.app.updated', data);
  });

test('a client that stops reading is cut off when 1 MiB waits for it; a reader beside it has each event at once, and requests are answered', async () => {
  const [app, quiet] = [await createApp(), await createApp()];
  const { orgId } = (await pageOf(`${P}/apps/${app}/events`, 1)).events[0] as unknown as { orgId: string };
  await until(() => hub().streamCount() === 0);
  const request = get(`${s.base}${P}/apps/${app}/events/stream`, {
    agent: false,
    headers: { 'x-api-key': s.key },
  });
  const stalled = await new Promise<IncomingMessage>((resolve, reject) =>
    request.on('response', resolve).on('error', reject),
  );
  stalled.pause();
  stalled.on('error', () => {});
  const [beside, far] = await Promise.all([
    stream(`${P}/apps/${app}/events/stream`),
    stream(`${P}/apps/${quiet}/events/stream`),
  ]);
  let [written, marks] = [0, 0];
  const waits: number[] = [];
  await until(async () => {
    await burst(app, orgId, 500);
    written += 500;
    const from = performance.now();
    await rename(quiet);
    marks++;
    await until(() => framesOf(far).length >= marks);
    waits.push(performance.now() - from);
    return hub().streamCount() === 2;
  }, 20_000);
  await until(() => framesOf(beside).length >= written);
  expect(framesOf(beside).length).toBe(written);
  expect(waits.toSorted((a, b) => a - b)[Math.floor(waits.length / 2)]).toBeLessThan(1_000);
  stalled.resume();
  request.destroy();
  beside.close();
  far.close();
});

describe('access that ends while a stream is open', () => {
  /** Changes the table behind the service's back: no message says so. */
  const silently = (change: ReturnType<typeof sql>) => change.execute(s.service.ctx.db);

  test('is noticed at the next heartbeat where the message was lost: a revoked key, a role without permission, the organization’s Platform API access', async () => {
    const [app, project] = [await createApp(), await createProject()];
    const keys = await Promise.all([account(), account(), account()]);
    hub().heartbeatMs = 100;
    const paths = [
      `${P}/apps/${app}/events/stream`,
      `${P}/events/stream`,
      `/api/events/stream?projectId=${project}`,
    ];
    const streams = await Promise.all(
      keys.flatMap(({ key }) => paths.map((path) => stream(path, { 'x-api-key': key }))),
    );
    const staying = await stream('/api/events/stream');
    hub().heartbeatMs = 15_000;
    const [revoked, reduced, platform] = [streams.slice(0, 3), streams.slice(3, 6), streams.slice(6)];
    await until(() => streams.every((one) => one.frames.length > 2));
    expect(streams.some((one) => one.isOver)).toBe(false);
    await silently(sql`update credentials set revoked = true where id = ${keys[0].credentialId}`);
    await silently(sql`update service_accounts set permissions = '{}' where id = ${keys[1].id}`);
    await until(() => [...revoked, ...reduced].every((one) => one.isOver), 10_000);
    expect(platform.some((one) => one.isOver)).toBe(false);
    await silently(sql`update organizations set platform_api = false`);
    try {
      await until(() => platform[0]!.isOver && platform[1]!.isOver, 10_000);
      expect([platform[2]!.isOver, staying.isOver]).toEqual([false, false]);
    } finally {
      await silently(sql`update organizations set platform_api = true`);
      s.service.ctx.bus.notify('accounts');
    }
    platform[2]!.close();
    staying.close();
  });

  test('a long poll that waits ends with it: 401 for a revoked key, 410 on all apps for one that reads other apps, 403 for an app it lost', async () => {
    const [app, other] = [await createApp(), await createApp()];
    const [revoked, narrowed, another] = [await account(), await account([app, other]), await account()];
    await until(() => hub().readerCount() === 0);
    const feeds: [string, string][] = [
      [`${P}/events`, revoked.key],
      [`${P}/events`, narrowed.key],
      [`${P}/apps/${other}/events`, narrowed.key],
      [`${P}/apps/${app}/events`, another.key],
    ];
    const cursors = await Promise.all(feeds.map(([feed, key]) => head(feed, {}, key)));
    const polls = feeds.map(async ([feed, key], i) => {
      const res = await s.call(
        'GET',
        `${feed}?${query({ cursor: cursors[i]!, waitSeconds: 30 })}`,
        undefined,
        { key },
      );
      return [res.status, res.body.error?.code ?? res.body.events.length];
    });
    await until(() => hub().readerCount() === 4);
    await Promise.all([revoked.revoke(), narrowed.patch({ projectIds: [app] })]);
    expect(await Promise.all(polls.slice(0, 3))).toEqual([
      [401, 'unauthorized'],
      [410, 'cursor_scope_changed'],
      [403, 'forbidden'],
    ]);
    // A page that was woken by others' changes waits on, and misses nothing.
    await another.patch({ name: 'renamed' });
    await rename(app);
    expect(await polls[3]).toEqual([200, 1]);
  });

  test("a change between a long poll's admission and its wait is not missed", async () => {
    const app = await createApp();
    const feed = `${P}/apps/${app}/events`;
    const { key, credentialId } = await account();
    const cursor = await head(feed, {}, key);
    const { bus, db } = s.service.ctx;
    const { watch } = hub();
    // The credential is known from its admission; the change is notified just before the wait is set up.
    hub().watch = function tellFirst(...args) {
      hub().watch = watch;
      bus.notify('accounts');
      return watch.apply(this, args);
    };
    await db.updateTable('credentials').set({ revoked: true }).where('id', '=', credentialId).execute();
    const from = performance.now();
    const res = await s.call('GET', `${feed}?${query({ cursor, waitSeconds: 20 })}`, undefined, { key });
    expect([res.status, performance.now() - from < 10_000]).toEqual([401, true]);
  });

  test('ends the stream behind all that it had sent, and a stream of a deleted app ends with platform.app.deleted as its last event', async () => {
    const app = await createApp();
    const limited = await account();
    const [doomed, plain] = await Promise.all([
      stream(`${P}/apps/${app}/events/stream`, { 'x-api-key': limited.key }),
      stream(`${P}/projects/${app}/events/stream`),
    ]);
    for (let i = 0; i < 5; i++) await rename(app);
    await until(() => framesOf(doomed).length === 5);
    await limited.revoke();
    await until(() => doomed.isOver, 5_000);
    expect(typesOn(doomed)).toEqual(Array.from({ length: 5 }, () => 'platform.app.updated'));
    expect((await s.call('DELETE', `${P}/apps/${app}`)).status).toBe(200);
    await until(() => plain.isOver, 10_000);
    expect(typesOn(plain).slice(5)).toEqual(['platform.app.deleted']);
    await refused(`${P}/apps/${app}/events/stream`, 404, 'app_not_found');
  });
});

test('a service that stops ends streams and answers long polls, and does not wait for their connections', async () => {
  const own = await startTestServer({ HEADRACE_ROLES: 'api' });
  const feeds = feedClient(() => own);
  const app = await feeds.createApp();
  const feed = `${P}/apps/${app}/events`;
  await feeds.pageOf(feed, 1);
  const cursor = await feeds.head(feed);
  const open = await feeds.stream(`${feed}/stream`);
  const polls = Array.from({ length: 3 }, () => feeds.page(feed, { cursor, waitSeconds: 30 }));
  await until(() => own.service.ctx.events.readerCount() === 4);
  const from = performance.now();
  await own.close();
  expect(performance.now() - from).toBeLessThan(5_000);
  expect((await Promise.all(polls)).map(({ events }) => events)).toEqual([[], [], []]);
  await until(() => open.isOver);
});
