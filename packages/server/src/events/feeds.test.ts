import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newId } from '../ids.ts';
import { compile } from '../http/validate.ts';
import { feedClient, feedsOf, framesOf, P, PATHS, query, typesOn } from './feeds.fixture.ts';
import type { Fields, TestPage } from './feeds.fixture.ts';
import { until } from './events.fixture.ts';
import { DirectEvent, PlatformEvent } from './types.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());

const { createApp, createProject, rename, page, pageOf, head, refused, refusedCursor, stream, account } =
  feedClient(() => s);

describe('200: pages', () => {
  test('an app’s events in their envelope, the same on its feed’s both forms and on that of all apps', async () => {
    const from = await head(`${P}/events`);
    const app = await createApp();
    await rename(app);
    const { events } = await pageOf(`${P}/apps/${app}/events`, 2);
    expect(events.map((e) => e.type)).toEqual(['platform.app.created', 'platform.app.updated']);
    for (const event of events) expect(compile(PlatformEvent, 'body')(event)).toEqual([]);
    const byProject = await page(`${P}/projects/${app}/events`);
    expect(byProject.events).toEqual(events);
    expect((await page(`${P}/events`, { cursor: from })).events.map((e) => e.id)).toEqual(
      events.map((e) => e.id),
    );
    expect(
      (await page(`${P}/projects/${app}/events`, { cursor: events[0]!.cursor })).events.map((e) => e.id),
    ).toEqual([events[1]!.id]);
  });

  test('limit, hasMore, nextCursor: paging by one is the whole, the end goes on later', async () => {
    const app = await createApp();
    for (let i = 0; i < 4; i++) await rename(app);
    const feed = `${P}/apps/${app}/events`;
    const whole = await pageOf(feed, 5);
    const ids: string[] = [];
    let cursor: string | undefined;
    for (let more = true; more;) {
      const got = await page(feed, { limit: 1, ...(cursor ? { cursor } : {}) });
      ids.push(...got.events.map((e) => e.id));
      cursor = got.nextCursor;
      more = got.hasMore;
    }
    expect(ids).toEqual(whole.events.map((e) => e.id));
    const empty = await page(feed, { cursor: cursor! });
    expect([empty.events, empty.hasMore]).toEqual([[], false]);
    await rename(app);
    expect(
      (
        await until(async () => {
          const got = await page(feed, { cursor: empty.nextCursor });
          return got.events.length ? got : undefined;
        })
      ).events.length,
    ).toBe(1);
  });

  test('the Direct feed: its envelope, its projects, never an app', async () => {
    const cursor = await head('/api/events');
    const app = await createApp();
    const [project, other] = [await createProject(), await createProject()];
    const { events } = await pageOf('/api/events', 2, { cursor });
    for (const event of events) expect(compile(DirectEvent, 'body')(event)).toEqual([]);
    expect(events.map((e) => [e.type, e.projectId])).toEqual([
      ['operation.updated', project],
      ['operation.updated', other],
    ]);
    expect(JSON.stringify(events)).not.toContain(app);
    expect((await page('/api/events', { projectId: project })).events.map((e) => e.projectId)).toEqual([
      project,
    ]);
    const limited = await account([other]);
    expect((await page('/api/events', { cursor }, limited.key)).events.map((e) => e.projectId)).toEqual([
      other,
    ]);
  });

  test('types keeps the named types; an unknown run is an empty page', async () => {
    const app = await createApp();
    await rename(app);
    const feed = `${P}/apps/${app}/events`;
    await pageOf(feed, 2);
    expect(
      (await page(feed, { types: 'platform.app.updated,run.failed' })).events.map((e) => e.type),
    ).toEqual(['platform.app.updated']);
    for (const one of feedsOf(app)) expect((await page(one, { runId: newId('run') })).events).toEqual([]);
  });

  test('waitSeconds: an empty page waits for the first event that fits, and no longer than asked', async () => {
    const app = await createApp();
    const feed = `${P}/apps/${app}/events`;
    await pageOf(feed, 1);
    const fields = { types: 'platform.app.updated', waitSeconds: 20 };
    const waiting = page(feed, fields);
    await createApp();
    await rename(app);
    const began = Date.now();
    expect((await waiting).events.map((e) => e.type)).toEqual(['platform.app.updated']);
    expect(Date.now() - began).toBeLessThan(5_000);
    const quiet = Date.now();
    expect((await page(feed, { cursor: await head(feed), waitSeconds: 1 })).events).toEqual([]);
    expect(Date.now() - quiet).toBeGreaterThan(950);
  });
});

describe('200: pages backwards', () => {
  const backwards = async (feed: string, fields: Fields) => {
    const pages: TestPage[] = [];
    for (let cursor = ''; ;) {
      const got = await page(feed, { ...fields, order: 'desc', ...(cursor && { cursor }) });
      pages.push(got);
      if (!got.hasMore) return pages;
      cursor = got.nextCursor;
    }
  };

  test('the pages of an app’s feed in turn, as their events are forwards', async () => {
    const app = await createApp();
    for (let i = 0; i < 4; i++) await rename(app);
    for (const feed of feedsOf(app).slice(0, 2)) {
      const { events } = await pageOf(feed, 5);
      const pages = await backwards(feed, { limit: 2 });
      expect(pages.map((one) => one.events)).toEqual([
        [events[4], events[3]],
        [events[2], events[1]],
        [events[0]],
      ]);
      expect((await page(feed, { order: 'asc' })).events).toEqual(events);
      expect((await page(feed, { cursor: pages[0]!.events[0]!.cursor })).events).toEqual([]);
    }
    const types = 'platform.app.created';
    expect(
      (await backwards(feedsOf(app)[0]!, { types })).flatMap((p) => p.events.map((e) => e.type)),
    ).toEqual([types]);
  });

  test('a page that is read again is the same, whatever was published since; nothing comes after the oldest event', async () => {
    const app = await createApp();
    await rename(app);
    const feed = `${P}/apps/${app}/events`;
    await pageOf(feed, 2);
    const [first, second] = await backwards(feed, { limit: 1 });
    await rename(app);
    await pageOf(feed, 3);
    const again = { order: 'desc', limit: 1 };
    expect(await page(feed, { ...again, cursor: first!.nextCursor })).toEqual(second);
    const empty = await page(feed, { ...again, cursor: second!.nextCursor });
    expect([empty.events, empty.hasMore, empty.nextCursor]).toEqual([[], false, second!.nextCursor]);
    const none = await page(feed, { ...again, types: 'run.failed' });
    expect((await page(feed, { ...again, types: 'run.failed', cursor: none.nextCursor })).events).toEqual([]);
  });

  test('the feed of all apps of a key, and the Direct one', async () => {
    const [app, other] = [await createApp(), await createApp()];
    const projectId = await createProject();
    await pageOf('/api/events', 1, { projectId });
    for (const one of [app, other]) await pageOf(`${P}/apps/${one}/events`, 1);
    const limited = await account([app]);
    const all = await page(`${P}/events`, { order: 'desc', limit: 10 }, limited.key);
    expect(all.events.map((e) => e.appId)).toEqual([app]);
    expect(
      (await backwards('/api/events', { projectId })).flatMap((p) => p.events.map((e) => e.projectId)),
    ).toEqual([projectId]);
  });
});

describe('200: streams', () => {
  test('frames as on the page; Last-Event-ID before cursor; a stream without either starts now', async () => {
    const app = await createApp();
    const feed = `${P}/apps/${app}/events`;
    for (let i = 0; i < 3; i++) await rename(app);
    const { events } = await pageOf(feed, 4);
    const replayed = await stream(`${feed}/stream?cursor=${encodeURIComponent(events[0]!.cursor)}`, {
      'last-event-id': events[1]!.cursor,
    });
    const fresh = await stream(`${feed}/stream`);
    expect(replayed.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    expect(replayed.response.headers['x-ratelimit-limit']).toBeDefined();
    expect(replayed.response.headers['x-request-id']).toBeDefined();
    await rename(app);
    await until(() => typesOn(replayed).length === 3 && typesOn(fresh).length === 1);
    const all = (await pageOf(feed, 5)).events;
    expect(framesOf(replayed)).toEqual(all.slice(2).map((e) => ({ id: e.cursor, event: e.type, data: e })));
    expect(framesOf(fresh)[0]!.data).toEqual(all[4]);
    replayed.close();
    fresh.close();
  });

  test('heartbeats in their interval, with a cursor behind what the filter left out', async () => {
    const app = await createApp();
    const feed = `${P}/apps/${app}/events`;
    s.service.ctx.events.heartbeatMs = 100;
    const filters = { types: 'platform.app.deleted' };
    const reader = await stream(`${feed}/stream?${query(filters)}`);
    s.service.ctx.events.heartbeatMs = 15_000;
    await rename(app);
    const end = (await pageOf(feed, 2)).events.at(-1)!;
    const count = reader.frames.length;
    const beat = await until(() => reader.frames[count + 1]);
    expect(beat).toEqual({ event: 'heartbeat', id: beat.data.cursor, data: { cursor: beat.id } });
    expect(typesOn(reader)).toEqual([]);
    expect((await page(feed, { ...filters, cursor: beat.id! })).events).toEqual([]);
    expect(end.type).toBe('platform.app.updated');
    await refused(`${feed}?${query({ cursor: beat.id! })}`, 400, 'invalid_cursor');
    reader.close();
  });

  test('a deleted app’s open stream gets platform.app.deleted and ends, also where its types hide it', async () => {
    const app = await createApp();
    const [plain, filtered, all] = await Promise.all([
      stream(`${P}/apps/${app}/events/stream`),
      stream(`${P}/apps/${app}/events/stream?types=run.failed`),
      stream(`${P}/events/stream`),
    ]);
    expect((await s.call('DELETE', `${P}/apps/${app}`)).status).toBe(200);
    await until(() => plain.isOver && filtered.isOver && typesOn(all).includes('platform.app.deleted'));
    expect([typesOn(plain).at(-1), typesOn(filtered)]).toEqual(['platform.app.deleted', []]);
    expect(all.isOver).toBe(false);
    all.close();
    for (const path of PATHS) await refused(`${P}/apps/${app}/events${path}`, 404, 'app_not_found');
  });

  test('ends at once when its key is revoked, or its account disabled', async () => {
    const app = await createApp();
    const [one, two] = [await account(), await account()];
    const [revoked, disabled] = await Promise.all([
      stream(`${P}/apps/${app}/events/stream`, { 'x-api-key': one.key }),
      stream('/api/events/stream', { 'x-api-key': two.key }),
    ]);
    await one.revoke();
    await two.patch({ disabled: true });
    await until(() => revoked.isOver && disabled.isOver, 10_000);
  });

  test('on all apps, a key that loses an app is told cursor_scope_changed, and its stream ends; cursors are 410', async () => {
    const [a, b] = [await createApp(), await createApp()];
    const limited = await account([a, b]);
    const reader = await stream(`${P}/events/stream`, { 'x-api-key': limited.key });
    const ownApp = await stream(`${P}/apps/${a}/events/stream`, { 'x-api-key': limited.key });
    const beat = await until(() => reader.frames[0]);
    await limited.patch({ projectIds: [a] });
    await until(() => reader.isOver, 10_000);
    expect(reader.frames.at(-1)).toMatchObject({ event: 'error', data: { code: 'cursor_scope_changed' } });
    expect(reader.frames.at(-1)!.id).toBeUndefined();
    const res = await s.call('GET', `${P}/events?${query({ cursor: beat.id! })}`, undefined, {
      key: limited.key,
    });
    expect([res.status, res.body.error.code]).toEqual([410, 'cursor_scope_changed']);
    expect(ownApp.isOver).toBe(false);
    await limited.patch({ projectIds: [b] });
    await until(() => ownApp.isOver, 10_000);
  });
});

describe('400', () => {
  test('types, limit, waitSeconds and what is unknown, each at its place', async () => {
    const app = await createApp();
    for (const feed of feedsOf(app)) {
      for (const path of PATHS) {
        for (const types of ['platform.app', 'run.*', 'run.queued,', 'run.finished'])
          await refused(`${feed}${path}?${query({ types })}`, 400, 'invalid_request', {
            field: '/query/types',
          });
        await refused(`${feed}${path}?since=1`, 400, 'invalid_request', { field: '/query/since' });
      }
      for (const limit of ['0', '501', '1.5', ''])
        await refused(`${feed}?limit=${limit}`, 400, 'invalid_request', { field: '/query/limit' });
      for (const wait of ['31', '-1', ''])
        await refused(`${feed}?waitSeconds=${wait}`, 400, 'invalid_request', { field: '/query/waitSeconds' });
      for (const order of ['up', '', 'DESC'])
        await refused(`${feed}?order=${order}`, 400, 'invalid_request', { field: '/query/order' });
      for (const path of ['/head', '/stream'])
        await refused(`${feed}${path}?order=desc`, 400, 'invalid_request', { field: '/query/order' });
      for (const waitSeconds of [0, 1])
        await refused(`${feed}?${query({ order: 'desc', waitSeconds })}`, 400, 'invalid_request', {
          field: '/query/waitSeconds',
        });
    }
  });

  test('a cursor of another feed, on pages and streams', async () => {
    const app = await createApp();
    const feeds = feedsOf(app).filter((feed) => !feed.includes('/projects/'));
    for (const made of feeds) {
      const cursor = await head(made);
      for (const used of feeds.filter((feed) => feed !== made)) {
        await refused(`${used}?${query({ cursor })}`, 400, 'invalid_cursor');
        const res = await s.call('GET', `${used}/stream`, undefined, {
          headers: { 'last-event-id': cursor },
        });
        expect([res.status, res.body.error.code]).toEqual([400, 'invalid_cursor']);
      }
    }
  });
});

describe('400: an order’s cursor', () => {
  test('is none of the other order, and none of a stream', async () => {
    const app = await createApp();
    const feed = `${P}/apps/${app}/events`;
    const forwards = (await pageOf(feed, 1)).nextCursor;
    const cursor = (await page(feed, { order: 'desc' })).nextCursor;
    for (const one of [forwards, await head(feed)])
      await refused(`${feed}?${query({ order: 'desc', cursor: one })}`, 400, 'invalid_cursor');
    await refused(`${feed}?${query({ order: 'asc', cursor })}`, 400, 'invalid_cursor');
    await refusedCursor(feed, cursor);
  });
});

describe('401, 403, 404', () => {
  test('without a key 401; another app than a key’s own 403', async () => {
    const [app, other] = [await createApp(), await createApp()];
    const limited = await account([app]);
    for (const path of PATHS) {
      for (const feed of feedsOf(app))
        expect((await s.call('GET', `${feed}${path}`, undefined, { key: null })).status).toBe(401);
      expect(
        (await s.call('GET', `${P}/apps/${other}/events${path}`, undefined, { key: limited.key })).status,
      ).toBe(403);
    }
  });

  test('a thread that is not the feed’s; a project that is none of the Direct feed', async () => {
    const app = await createApp();
    for (const path of PATHS) {
      for (const feed of feedsOf(app))
        await refused(`${feed}${path}?threadId=${newId('thr')}`, 404, 'thread_not_found');
      for (const projectId of [app, newId('prj'), 'nonsense'])
        await refused(`/api/events${path}?projectId=${projectId}`, 404, 'project_not_found');
      await refused(`${P}/apps/${newId('prj')}/events${path}`, 404, 'app_not_found');
    }
  });
});

test('410: a cursor expires one retention after its time, and the oldest events leave the feed', async () => {
  const short = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_EVENT_RETENTION_SECONDS: '2' });
  try {
    const made = await short.call('POST', `${P}/apps`, { name: 'App' });
    const feed = `${P}/apps/${made.body.app.id}/events`;
    const {
      body: { cursor },
    } = await short.call('GET', `${feed}/head`);
    const began = Date.now();
    const expired = await until(async () => {
      const res = await short.call('GET', `${feed}?${query({ cursor })}`);
      return res.status === 200 ? undefined : res;
    });
    expect([expired.status, expired.body.error.code]).toEqual([410, 'cursor_expired']);
    expect(Date.now() - began).toBeGreaterThan(1_500);
    expect((await short.call('GET', `${feed}/stream?${query({ cursor })}`)).status).toBe(410);
    await until(async () => (await short.call('GET', feed)).body.events.length === 0);
  } finally {
    await short.close();
  }
});
