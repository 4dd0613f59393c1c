/** Tabs with a feed that a test writes frame by frame. */
import type { ServerResponse } from 'node:http';
import { QueryClient } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { draftFrame, draftRemovedFrame, frame, sendFrames } from '../../../client/src/events/feed.fixture.ts';
import { loopback, refusal, sendJson } from '../../../client/src/loopback.fixture.ts';
import { eventOf } from './event.fixture.ts';
import { newIdentity, openTab } from './tab.fixture.ts';
import type { Tab } from './tab.fixture.ts';

/** Followed, though no event here is of these types. */
const OTHER = { types: ['platform.app.'] };
const ROOT = '/api/platform/v1/events';

interface OpenStream {
  response: ServerResponse;
  isOfThread: boolean;
  cursor: string;
}

/** A service whose feed has the events 1 to `head`; a stream gets those after its cursor, and then `send`. */
async function feedService() {
  const feed = { head: 0, first: 0, refuseWith: 0, streams: new Set<OpenStream>(), polls: 0 };
  const server = await loopback((response, { url, headers }) => {
    const { pathname, searchParams } = new URL(url, 'http://feed.test');
    if (feed.refuseWith) {
      const isLimit = feed.refuseWith === 429;
      return sendJson(response, feed.refuseWith, refusal(isLimit ? 'rate_limited' : 'unauthorized'), {
        'retry-after': '1',
      });
    }
    if (pathname.endsWith('/head')) return sendJson(response, 200, { ok: true, cursor: `c${feed.head}` });
    const from = Number(
      (headers['last-event-id']?.toString() ?? searchParams.get('cursor') ?? 'c0').slice(1),
    );
    if (from < feed.first) return sendJson(response, 410, refusal('cursor_expired'));
    if (pathname === ROOT) {
      feed.polls++;
      const events = later(from).map((n) => eventOf(n));
      const answer = () =>
        sendJson(response, 200, { ok: true, events, nextCursor: `c${feed.head}`, hasMore: false });
      if (events.length || !searchParams.has('waitSeconds')) answer();
      return;
    }
    const stream = { response, isOfThread: pathname !== `${ROOT}/stream`, cursor: `c${from}` };
    feed.streams.add(stream);
    response.on('close', () => feed.streams.delete(stream));
    sendFrames(response, frame('heartbeat', { cursor: `c${from}` }, `c${from}`));
    if (!stream.isOfThread) for (const n of later(from)) sendFrames(response, frameOf(n));
  });
  const later = (from: number) => Array.from({ length: feed.head - from }, (_, n) => from + n + 1);
  const rests = new Map<number, object>();
  const frameOf = (n: number) => frame('run.running', eventOf(n, rests.get(n)), `c${n}`);
  const openStreams = (isOfThread: boolean) =>
    [...feed.streams].filter((one) => one.isOfThread === isOfThread);
  return {
    server,
    feed,
    openStreams,
    /** Adds an event to the feed. */
    publish(rest: object = {}) {
      const n = ++feed.head;
      rests.set(n, rest);
      for (const { response } of openStreams(false)) sendFrames(response, frameOf(n));
    },
    cut() {
      for (const { response } of feed.streams) response.destroy();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const open = (service: Awaited<ReturnType<typeof feedService>>, options: object = {}) =>
  openTab({ client: service.server.client, identity: newIdentity(), ...options });

const until = (check: () => void) => vi.waitFor(check, { timeout: 8_000, interval: 10 });
const isIn = (tab: Tab, state: string) => until(() => expect(tab.live.status().state).toBe(state));
const ids = (tab: Tab) => tab.events.map(({ id }) => id);

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

test('many tabs have one stream, and one of drafts; the next tab leads from the last cursor', async () => {
  await using service = await feedService();
  const identity = newIdentity();
  const tabs = Array.from({ length: 8 }, (_, n) => open(service, { identity, focused: n === 0 }));
  try {
    for (const tab of tabs) tab.live.watchThread('prj_1', 'thr_1');
    for (const tab of tabs) await isIn(tab, 'live');
    for (let n = 0; n < 5; n++) service.publish();
    for (const tab of tabs) await until(() => expect(tab.events).toHaveLength(5));
    expect([service.openStreams(false).length, service.openStreams(true).length]).toEqual([1, 1]);
    tabs[0]!.live.stop();
    await until(() => expect(service.openStreams(false)[0]?.cursor).toBe('c5'));
    service.publish();
    for (const tab of tabs.slice(1)) await until(() => expect(tab.events).toHaveLength(6));
    expect([service.openStreams(false).length, service.openStreams(true).length]).toEqual([1, 1]);
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
  await until(() => expect(service.openStreams(false)).toHaveLength(1));
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
  await until(() => expect(leader.events).toHaveLength(3));
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
    await until(() => expect(tab.events).toHaveLength(2 * n + 2));
    service.cut();
  }
  expect(ids(tab)).toEqual(Array.from({ length: 20 }, (_, n) => `evt_${n + 1}`));
  expect(service.feed.polls).toBe(0);
}, 60_000);

test('a service that is away: offline with the time of the data, and live again when asked to try', async () => {
  await using service = await feedService();
  using tab = open(service);
  await isIn(tab, 'live');
  const lostAt = Date.now();
  service.feed.refuseWith = 503;
  service.cut();
  await isIn(tab, 'behind');
  await isIn(tab, 'offline');
  const { dataAt, reason, nextAttemptAt } = tab.live.status();
  expect(Math.abs(dataAt! - lostAt)).toBeLessThan(1_000);
  expect([typeof reason, typeof nextAttemptAt]).toEqual(['string', 'number']);
  service.feed.refuseWith = 0;
  tab.live.check();
  await isIn(tab, 'live');
  expect(tab.live.status()).toMatchObject({ reason: null, nextAttemptAt: null });
}, 20_000);

test('a service that asks to wait is not offline', async () => {
  await using service = await feedService();
  service.feed.refuseWith = 429;
  using tab = open(service);
  await until(() => expect(tab.live.status().reason).toBe('No.'));
  expect(tab.live.status().state).toBe('connecting');
  service.feed.refuseWith = 0;
  await isIn(tab, 'live');
});

test('a browser that is offline reads nothing, and continues when it is online', async () => {
  await using service = await feedService();
  using tab = open(service);
  await isIn(tab, 'live');
  tab.set({ online: false });
  await isIn(tab, 'offline');
  await until(() => expect(service.feed.streams.size).toBe(0));
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
  service.feed.head = service.feed.first = 50;
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
  await until(() => expect([first.events.length, reads]).toEqual([1, 1]));
  service.feed.refuseWith = 401;
  service.cut();
  for (const tab of [first, second]) await isIn(tab, 'signed-out');
  expect([first.signedOut, second.signedOut]).toEqual([1, 1]);
  expect(service.feed.streams.size).toBe(0);
  first.live.stop();
  service.feed.refuseWith = 0;
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
  await until(() => expect(tab.events).toHaveLength(1));
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
  first.live.watchThread('prj_1', 'thr_1');
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
  second.live.watchThread('prj_1', 'thr_2');
  first.set({ focused: false });
  second.set({ focused: true });
  await until(() => expect(service.openStreams(true).filter((one) => one !== before)).toHaveLength(1));
  await until(() => expect(service.openStreams(true)).toHaveLength(1));
  second.set({ visible: false });
  first.set({ visible: false });
  await until(() => expect(service.openStreams(true)).toHaveLength(0));
});

test('without locks: long polls, only while the tab is shown', async () => {
  await using service = await feedService();
  using tab = open(service, { hasLocks: false });
  await isIn(tab, 'live');
  await until(() => expect(service.feed.polls).toBe(2));
  tab.set({ visible: false });
  service.publish();
  service.publish();
  tab.set({ visible: true });
  await until(() => expect(ids(tab)).toEqual(['evt_1', 'evt_2']));
  await isIn(tab, 'live');
  expect(service.feed.streams.size).toBe(0);
  service.feed.head = service.feed.first = 50;
  tab.set({ visible: false });
  tab.set({ visible: true });
  await until(() => expect(tab.live.status().gapAt).not.toBeNull());
  await isIn(tab, 'live');
});
