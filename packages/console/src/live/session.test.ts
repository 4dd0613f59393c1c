/** Tabs with a feed that a test writes frame by frame. */
import type { ServerResponse } from 'node:http';
import { createClient } from '@headrace/client';
import { QueryClient } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { draftFrame, draftRemovedFrame, frame, sendFrames } from '../../../client/src/events/feed.fixture.ts';
import { loopback, refusal, sendJson } from '../../../client/src/loopback.fixture.ts';
import { eventOf } from './event.fixture.ts';
import type { LaneName } from './lanes.ts';
import { newIdentity, openTab } from './tab.fixture.ts';
import type { Tab } from './tab.fixture.ts';

/** Followed, though no event here is of these types. */
const OTHER = { types: ['platform.app.'] };
const THREAD = { appId: 'prj_1', threadId: 'thr_1', lane: 'apps' } as const;
const LANES = ['apps', 'direct'] as const;
const ROOTS = ['/api/platform/v1/events/stream', '/api/events/stream'];

interface OpenStream {
  response: ServerResponse;
  lane: LaneName;
  url: string;
  isOfThread: boolean;
  cursor: string;
}

const newFeed = () => ({ head: 0, first: 0, refuseWith: 0, polls: 0, held: 0, refusals: 0 });
/** The nth event of a feed. Both count from 1: an event is older or newer only than others of its feed. */
const eventIn = (lane: LaneName, n: number, rest: object = {}) =>
  lane === 'apps' ? eventOf(n, rest) : eventOf(n, { id: `dir_${n}`, cursor: `d${n}`, ...rest });

/** A service whose feeds have the events 1 to `head`; a stream gets those after its cursor, and then `send`. */
async function feedService() {
  const feeds = { apps: newFeed(), direct: newFeed() };
  const streams = new Set<OpenStream>();
  const server = await loopback((response, { url, headers }) => {
    const { pathname, searchParams } = new URL(url, 'http://feed.test');
    const lane: LaneName = pathname.startsWith('/api/events') ? 'direct' : 'apps';
    const feed = feeds[lane];
    if (feed.refuseWith) {
      const code = { 403: 'forbidden', 429: 'rate_limited' }[feed.refuseWith] ?? 'unauthorized';
      feed.refusals++;
      return sendJson(response, feed.refuseWith, refusal(code), {
        ...(feed.refuseWith !== 403 && { 'retry-after': '1' }),
      });
    }
    const cursorOf = (n: number) => eventIn(lane, n).cursor;
    if (pathname.endsWith('/head')) return sendJson(response, 200, { ok: true, cursor: cursorOf(feed.head) });
    const from = Number(
      (headers['last-event-id']?.toString() ?? searchParams.get('cursor') ?? 'c0').slice(1),
    );
    if (from < feed.first) return sendJson(response, 410, refusal('cursor_expired'));
    if (!pathname.endsWith('/stream')) {
      feed.polls++;
      const events = later(lane, from).map((n) => eventIn(lane, n));
      const answer = () =>
        sendJson(response, 200, { ok: true, events, nextCursor: cursorOf(feed.head), hasMore: false });
      if (events.length || !searchParams.has('waitSeconds')) return answer();
      feed.held++;
      response.on('close', () => feed.held--);
      return;
    }
    const isOfThread = !ROOTS.includes(pathname) || searchParams.has('threadId');
    const stream = { response, lane, url, isOfThread, cursor: cursorOf(from) };
    streams.add(stream);
    response.on('close', () => streams.delete(stream));
    sendFrames(response, frame('heartbeat', { cursor: cursorOf(from) }, cursorOf(from)));
    if (!isOfThread) for (const n of later(lane, from)) sendFrames(response, frameOf(lane, n));
  });
  const later = (lane: LaneName, from: number) =>
    Array.from({ length: feeds[lane].head - from }, (_, n) => from + n + 1);
  const rests = new Map<string, object>();
  const frameOf = (lane: LaneName, n: number) => {
    const event = eventIn(lane, n, rests.get(`${lane} ${n}`));
    return frame('run.running', event, event.cursor);
  };
  const openStreams = (isOfThread: boolean) => [...streams].filter((one) => one.isOfThread === isOfThread);
  const publishIn = (lane: LaneName, rest: object = {}) => {
    const n = ++feeds[lane].head;
    rests.set(`${lane} ${n}`, rest);
    for (const stream of openStreams(false))
      if (stream.lane === lane) sendFrames(stream.response, frameOf(lane, n));
  };
  return {
    server,
    feeds,
    streams,
    openStreams,
    publishIn,
    /** Adds an event to each feed. */
    publish(rest: object = {}) {
      for (const lane of LANES) publishIn(lane, rest);
    },
    refuse(status: number) {
      for (const lane of LANES) feeds[lane].refuseWith = status;
    },
    /** The events so far are no longer kept. */
    expire(head: number) {
      for (const lane of LANES) Object.assign(feeds[lane], { head, first: head });
    },
    cut() {
      for (const { response } of streams) response.destroy();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const open = (service: Awaited<ReturnType<typeof feedService>>, options: object = {}) =>
  openTab({ client: service.server.client, identity: newIdentity(), ...options });

const until = (check: () => void) => vi.waitFor(check, { timeout: 8_000, interval: 10 });
const isIn = (tab: Tab, state: string) => until(() => expect(tab.live.status().state).toBe(state));
/** Those of the feed of apps; the other feed's have to be the same so far. */
function ids({ events }: Tab): string[] {
  const all = events.map(({ id }) => id);
  const ofApps = all.filter((id) => id.startsWith('evt_'));
  expect(all.filter((id) => id.startsWith('dir_'))).toEqual(ofApps.map((id) => id.replace('evt', 'dir')));
  return ofApps;
}

test('a status is shown at once, and the query is read again', async () => {
  await using service = await feedService();
  using tab = open(service);
  await isIn(tab, 'live');
  let reads = 0;
  const read = () =>
    ++reads === 1 ? Promise.resolve([{ id: 'run_1', status: 'queued' }]) : new Promise(() => {});
  tab.show('runs', read, { types: ['run.'] });
  await until(() => expect(tab.queries.getQueryData(['runs'])).toBeDefined());
  service.publish();
  await until(() => expect(tab.queries.getQueryData(['runs'])).toEqual([{ id: 'run_1', status: 'running' }]));
  await until(() => expect(reads).toBe(2));
});

test('what was read before the position of the feed was known is read again; what is read later is not', async () => {
  await using service = await feedService();
  using tab = open(service);
  const reads = { early: 0, late: 0 };
  tab.show('early', async () => ++reads.early, OTHER);
  await tab.live.ready;
  await until(() => expect(reads.early).toBe(2));
  tab.show('late', async () => ++reads.late, OTHER);
  service.publish();
  await until(() => expect(ids(tab)).toEqual(['evt_1']));
  expect(reads).toEqual({ early: 2, late: 1 });
});

test('many tabs have a stream of each feed, and one of drafts; the next tab leads from the last cursor', async () => {
  await using service = await feedService();
  const identity = newIdentity();
  const tabs = Array.from({ length: 8 }, (_, n) => open(service, { identity, focused: n === 0 }));
  try {
    for (const tab of tabs) tab.live.watchThread(THREAD);
    for (const tab of tabs) await isIn(tab, 'live');
    for (let n = 0; n < 5; n++) service.publish();
    for (const tab of tabs) await until(() => expect(ids(tab)).toHaveLength(5));
    expect([service.openStreams(false).length, service.openStreams(true).length]).toEqual([2, 1]);
    tabs[0]!.live.stop();
    await until(() =>
      expect(
        service
          .openStreams(false)
          .map(({ cursor }) => cursor)
          .toSorted(),
      ).toEqual(['c5', 'd5']),
    );
    service.publish();
    for (const tab of tabs.slice(1)) await until(() => expect(ids(tab)).toHaveLength(6));
    expect([service.openStreams(false).length, service.openStreams(true).length]).toEqual([2, 1]);
  } finally {
    for (const tab of tabs) tab[Symbol.dispose]();
  }
});

test('a frozen leader is replaced, and follows when it wakes', async () => {
  await using service = await feedService();
  const identity = newIdentity();
  using first = open(service, { identity });
  await isIn(first, 'live');
  using second = open(service, { identity });
  await isIn(second, 'live');
  first.freeze(true);
  service.publish();
  await until(() => expect(ids(second)).toEqual(['evt_1']));
  first.freeze(false);
  service.publish();
  for (const tab of [first, second]) await until(() => expect(ids(tab)).toEqual(['evt_1', 'evt_2']));
  await until(() => expect(service.openStreams(false)).toHaveLength(2));
});

test('a tab that has missed messages gets them from its leader', async () => {
  await using service = await feedService();
  const identity = newIdentity();
  using leader = open(service, { identity });
  await isIn(leader, 'live');
  using tab = open(service, { identity, visible: false });
  await until(() => expect(tab.live.status().state).toBe('live'));
  await tab.live.ready;
  tab.lose(true);
  for (let n = 0; n < 3; n++) service.publish();
  await until(() => expect(ids(leader)).toHaveLength(3));
  tab.lose(false);
  service.publish();
  await until(() => expect(ids(tab)).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4']));
});

test('a cut stream continues where it was', async () => {
  await using service = await feedService();
  using tab = open(service);
  await isIn(tab, 'live');
  for (let n = 0; n < 10; n++) {
    service.publish();
    service.publish();
    await until(() => expect(ids(tab)).toHaveLength(2 * n + 2));
    service.cut();
  }
  expect(ids(tab)).toEqual(Array.from({ length: 20 }, (_, n) => `evt_${n + 1}`));
  expect([service.feeds.apps.polls, service.feeds.direct.polls]).toEqual([0, 0]);
}, 60_000);

test('a service that is away: offline with the time of the data, and live again when asked to try', async () => {
  await using service = await feedService();
  using tab = open(service);
  await isIn(tab, 'live');
  const lostAt = Date.now();
  service.refuse(503);
  service.cut();
  await isIn(tab, 'behind');
  await isIn(tab, 'offline');
  const { dataAt, reason, nextAttemptAt } = tab.live.status();
  expect(Math.abs(dataAt! - lostAt)).toBeLessThan(1_000);
  expect([typeof reason, typeof nextAttemptAt]).toEqual(['string', 'number']);
  service.refuse(0);
  tab.live.check();
  await isIn(tab, 'live');
  expect(tab.live.status()).toMatchObject({ reason: null, nextAttemptAt: null });
}, 20_000);

test('one feed that fails is behind, not offline: what the other one brings is shown', async () => {
  await using service = await feedService();
  using tab = open(service);
  await isIn(tab, 'live');
  service.feeds.direct.refuseWith = 503;
  service.cut();
  service.publish();
  await until(() => expect(tab.events.map(({ id }) => id)).toEqual(['evt_1']));
  await until(() => expect(tab.live.status().reason).not.toBeNull());
  await isIn(tab, 'behind');
  // Longer than a service may be away until it is offline.
  await until(() => expect(Date.now() - tab.live.status().dataAt!).toBeGreaterThan(3_100));
  expect(tab.live.status().state).toBe('behind');
  service.feeds.direct.refuseWith = 0;
  tab.live.check();
  await isIn(tab, 'live');
  await until(() => expect(ids(tab)).toEqual(['evt_1']));
}, 20_000);

test('410 in one feed: what is shown is read again once, and the other feed goes on', async () => {
  await using service = await feedService();
  using tab = open(service);
  await isIn(tab, 'live');
  let reads = 0;
  tab.show('any', async () => ++reads, OTHER);
  await until(() => expect(reads).toBe(1));
  Object.assign(service.feeds.direct, { head: 50, first: 50 });
  const [other] = service.openStreams(false).filter(({ lane }) => lane === 'apps');
  for (const { lane, response } of service.streams) if (lane === 'direct') response.destroy();
  await until(() => expect(tab.live.status().gapAt).not.toBeNull());
  await isIn(tab, 'live');
  service.publish();
  await until(() => expect(tab.events.map(({ id }) => id).toSorted()).toEqual(['dir_51', 'evt_1']));
  expect(service.streams).toContain(other);
  expect(reads).toBe(2);
});

test('without the Platform API, only the Direct feed is read', async () => {
  await using service = await feedService();
  service.feeds.apps.refuseWith = 403;
  using tab = open(service, { lanes: ['direct'] });
  await tab.live.ready;
  await isIn(tab, 'live');
  service.publishIn('direct');
  await until(() => expect(tab.events.map(({ id }) => id)).toEqual(['dir_1']));
  expect([...service.streams].map(({ lane }) => lane)).toEqual(['direct']);
});

test('a service that asks to wait is not offline', async () => {
  await using service = await feedService();
  service.refuse(429);
  using tab = open(service);
  await until(() => expect(tab.live.status().reason).toBe('No.'));
  expect(tab.live.status().state).toBe('connecting');
  service.refuse(0);
  await isIn(tab, 'live');
});

test('a browser that is offline reads nothing, and continues when it is online', async () => {
  await using service = await feedService();
  using tab = open(service);
  await isIn(tab, 'live');
  tab.set({ online: false });
  await isIn(tab, 'offline');
  await until(() => expect(service.streams.size).toBe(0));
  service.publish();
  tab.set({ online: true });
  await isIn(tab, 'live');
  await until(() => expect(ids(tab)).toEqual(['evt_1']));
});

test('410: all that is shown is read again, in every tab, and the loss has a time', async () => {
  await using service = await feedService();
  const identity = newIdentity();
  using first = open(service, { identity });
  await isIn(first, 'live');
  using second = open(service, { identity });
  await isIn(second, 'live');
  const answers: (() => void)[] = [];
  let reads = 0;
  const read = () =>
    new Promise((resolve) => (reads++ < 2 ? resolve(reads) : answers.push(() => resolve(reads))));
  for (const tab of [first, second]) tab.show('any', read, OTHER);
  await until(() => expect(second.queries.getQueryData(['any'])).toBeDefined());
  const lostAt = Date.now();
  service.expire(50);
  service.cut();
  await isIn(first, 'expired');
  await until(() => expect(answers).toHaveLength(2));
  for (const answer of answers) answer();
  for (const tab of [first, second]) {
    await isIn(tab, 'live');
    expect(Math.abs(tab.live.status().gapAt! - lostAt)).toBeLessThan(5_000);
  }
  service.publish();
  for (const tab of [first, second]) await until(() => expect(ids(tab)).toEqual(['evt_51']));
});

test('401 signs every tab out once; the next session continues from the last cursor', async () => {
  await using service = await feedService();
  const identity = newIdentity();
  const queries = new QueryClient();
  using first = open(service, { identity, queries });
  await isIn(first, 'live');
  using second = open(service, { identity });
  await isIn(second, 'live');
  service.publish();
  let reads = 0;
  first.show('any', async () => ++reads, OTHER);
  await until(() => expect([ids(first).length, reads]).toEqual([1, 1]));
  service.refuse(401);
  service.cut();
  for (const tab of [first, second]) await isIn(tab, 'signed-out');
  expect([first.signedOut, second.signedOut]).toEqual([1, 1]);
  expect(service.streams.size).toBe(0);
  first.live.stop();
  service.refuse(0);
  service.publish();
  using again = open(service, { identity, queries });
  await until(() => expect(ids(again)).toEqual(['evt_2']));
  // Its change may have been under way when the first session ended.
  await until(() => expect(reads).toBe(2));
});

test('a hidden tab reads nothing until it is shown', async () => {
  await using service = await feedService();
  const identity = newIdentity();
  using leader = open(service, { identity });
  await isIn(leader, 'live');
  using tab = open(service, { identity });
  await isIn(tab, 'live');
  let reads = 0;
  tab.show('runs', async () => ++reads, { types: ['run.'] });
  await until(() => expect(reads).toBe(1));
  tab.set({ visible: false });
  service.publish();
  await until(() => expect(ids(tab)).toHaveLength(1));
  expect(reads).toBe(1);
  tab.set({ visible: true });
  await until(() => expect(reads).toBe(2));
});

test('a service that asks one tab to wait is not asked by any', async () => {
  await using service = await feedService();
  const identity = newIdentity();
  using first = open(service, { identity });
  await isIn(first, 'live');
  using second = open(service, { identity });
  await isIn(second, 'live');
  let reads = 0;
  first.show('runs', async () => ++reads, { types: ['run.'] });
  await until(() => expect(reads).toBe(1));
  const startedAt = performance.now();
  second.live.pause(2_000);
  await until(() => expect(first.live.status().reason).toContain('wait'));
  service.publish();
  await until(() => expect(reads).toBe(2));
  expect(performance.now() - startedAt).toBeGreaterThan(1_900);
  await until(() => expect(first.live.status().reason).toBeNull());
});

test('drafts are those of the thread in the tab in front; newer ones replace, and the message ends them', async () => {
  await using service = await feedService();
  const identity = newIdentity();
  using first = open(service, { identity });
  using second = open(service, { identity, focused: false });
  for (const tab of [first, second]) await isIn(tab, 'live');
  first.live.watchThread(THREAD);
  await until(() => expect(service.openStreams(true)).toHaveLength(1));
  const send = (...frames: string[]) => sendFrames(service.openStreams(true)[0]!.response, ...frames);
  send(draftFrame('msg_1', 1), draftFrame('msg_1', 2));
  for (const tab of [first, second])
    await until(() => expect(tab.live.draft('thr_1')?.content).toBe('msg_1 2'));
  service.publish({ type: 'message.persisted', data: { id: 'msg_1', role: 'assistant' } });
  for (const tab of [first, second]) await until(() => expect(tab.live.draft('thr_1')).toBeNull());
  send(draftFrame('msg_2', 1));
  await until(() => expect(second.live.draft('thr_1')?.messageId).toBe('msg_2'));
  send(draftRemovedFrame('msg_2'));
  for (const tab of [first, second]) await until(() => expect(tab.live.draft('thr_1')).toBeNull());

  const before = service.openStreams(true)[0];
  second.live.watchThread({ ...THREAD, threadId: 'thr_2' });
  first.set({ focused: false });
  second.set({ focused: true });
  await until(() => expect(service.openStreams(true).filter((one) => one !== before)).toHaveLength(1));
  await until(() => expect(service.openStreams(true)).toHaveLength(1));
  second.set({ visible: false });
  first.set({ visible: false });
  await until(() => expect(service.openStreams(true)).toHaveLength(0));
});

test('drafts of a thread are read on the feed of its project', async () => {
  await using service = await feedService();
  using tab = open(service);
  await isIn(tab, 'live');
  const end = tab.live.watchThread({ ...THREAD, lane: 'direct' });
  const asked = () => service.openStreams(true).map(({ url }) => url);
  await until(() => expect(asked()).toEqual(['/api/events/stream?projectId=prj_1&threadId=thr_1']));
  sendFrames(service.openStreams(true)[0]!.response, draftFrame('msg_1', 1));
  await until(() => expect(tab.live.draft('thr_1')?.content).toBe('msg_1 1'));
  end();
  tab.live.watchThread(THREAD);
  await until(() => expect(asked()).toEqual(['/api/platform/v1/apps/prj_1/events/stream?threadId=thr_1']));
});

test('401 of one feed signs out for good, whatever the other one still brings', async () => {
  await using service = await feedService();
  let stream: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (stream = controller) });
  let refuse = () => {};
  const held: Record<string, () => Promise<Response>> = {
    '/api/platform/v1/events/stream': async () =>
      new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    '/api/events/stream': () =>
      new Promise((resolve) => {
        refuse = () => resolve(Response.json(refusal('unauthorized'), { status: 401 }));
      }),
  };
  const client = createClient({
    baseUrl: service.server.base,
    key: 'hrk_test',
    fetch: (input, init) => held[new URL(input as string).pathname]?.() ?? fetch(input, init),
  });
  using tab = openTab({ client, identity: newIdentity() });
  const send = (n: number) =>
    stream.enqueue(new TextEncoder().encode(frame('run.running', eventIn('apps', n), `c${n}`)));
  send(1);
  await until(() => expect(tab.events.map(({ id }) => id)).toEqual(['evt_1']));
  // What has arrived is told in a task of its own, and the refusal comes before that.
  send(2);
  refuse();
  await until(() => expect(tab.signedOut).toBe(1));
  await isIn(tab, 'signed-out');
});

test('a feed that may no longer be read is told once, asked seldom, and the other one goes on', async () => {
  await using service = await feedService();
  using tab = open(service);
  await isIn(tab, 'live');
  service.feeds.apps.refuseWith = 403;
  service.cut();
  await until(() => expect(tab.forbidden).toBe(1));
  service.publish();
  await until(() => expect(tab.events.map(({ id }) => id)).toEqual(['dir_1']));
  await until(() => expect(tab.live.status().nextAttemptAt).not.toBeNull());
  expect(tab.live.status().nextAttemptAt! - Date.now()).toBeGreaterThan(20_000);
  expect([tab.forbidden, service.feeds.apps.refusals]).toEqual([1, 1]);
});

test('without locks: long polls, only while the tab is shown', async () => {
  await using service = await feedService();
  using tab = open(service, { hasLocks: false });
  await isIn(tab, 'live');
  await until(() => expect([service.feeds.apps.polls, service.feeds.direct.polls]).toEqual([2, 2]));
  // Windows share a browser's six connections.
  expect([service.feeds.apps.held, service.feeds.direct.held]).toEqual([1, 0]);
  tab.set({ visible: false });
  service.publish();
  service.publish();
  tab.set({ visible: true });
  await until(() => expect(ids(tab)).toEqual(['evt_1', 'evt_2']));
  await isIn(tab, 'live');
  expect(service.streams.size).toBe(0);
  service.expire(50);
  tab.set({ visible: false });
  tab.set({ visible: true });
  await until(() => expect(tab.live.status().gapAt).not.toBeNull());
  await isIn(tab, 'live');
});
