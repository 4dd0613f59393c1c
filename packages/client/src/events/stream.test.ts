import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loopback, refusal, sendJson } from '../loopback.fixture.ts';
import { draftFrame, draftRemovedFrame, eventFrame, frame, sendFrames } from './feed.fixture.ts';
import type { ReaderState, StreamItem } from './index.ts';

const FROM = { cursor: 'c0' };

/** The first items, as far as they are asked for. */
async function collect<T>(items: AsyncGenerator<T>, count: number): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) if (collected.push(item) === count) break;
  return collected;
}
const ids = (items: StreamItem[]) =>
  items.map((item) => {
    if (item.kind === 'event') return item.event.id;
    if (item.kind === 'draft') return `${item.draft.messageId} ${item.draft.revision}`;
    return item.kind === 'draft.removed' ? `no ${item.messageId}` : item.kind;
  });

// Delays are drawn from nothing up to their ceiling: no test waits.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

test('heartbeats that bring no item are heard', async () => {
  await using server = await loopback((response) => {
    sendFrames(response, frame('heartbeat', { cursor: 'c0' }, 'c0'));
    setImmediate(() => sendFrames(response, eventFrame(1)));
  });
  let heard = 0;
  const items = server.client.events.stream({}, { ...FROM, onHeard: () => void heard++ });
  expect(ids(await collect(items, 1))).toEqual(['evt_1']);
  expect(heard).toBe(2);
});

describe('a lost connection', () => {
  test('resumes at the last cursor, and shows no event twice', async () => {
    await using server = await loopback((response, { url }, number) => {
      if (url.includes('/head')) sendJson(response, 200, { ok: true, cursor: 'c0' });
      else if (number === 2) {
        sendFrames(response, eventFrame(1), eventFrame(2), 'id: c3\nevent: run.running\nda');
        setImmediate(() => response.destroy());
      } else sendFrames(response, eventFrame(2), eventFrame(3));
    });
    const items = server.client.events.stream({ appId: 'prj_1', types: ['run.running'] });
    expect(ids(await collect(items, 3))).toEqual(['evt_1', 'evt_2', 'evt_3']);
    const [head, first, second] = server.seen;
    expect([head!.url, first!.url]).toEqual([
      '/api/platform/v1/apps/prj_1/events/head?types=run.running',
      '/api/platform/v1/apps/prj_1/events/stream?types=run.running',
    ]);
    expect([first!.headers['last-event-id'], second!.headers['last-event-id']]).toEqual(['c0', 'c2']);
  });

  test('also resumes after a heartbeat, but not after a draft', async () => {
    await using server = await loopback((response, _, number) => {
      if (number > 1) return sendFrames(response, eventFrame(10));
      sendFrames(response, frame('heartbeat', { cursor: 'c9' }, 'c9'), draftFrame('msg_1', 1));
      response.end();
    });
    expect(ids(await collect(server.client.events.stream({}, FROM), 2))).toEqual(['msg_1 1', 'evt_10']);
    expect(server.seen.map((s) => s.headers['last-event-id'])).toEqual(['c0', 'c9']);
  });

  test.each<[string, Parameters<typeof loopback>[0]]>([
    ['no answer', (response) => void response.destroy()],
    ['500', (response) => sendJson(response, 500, refusal('internal_error'))],
    ['a proxy’s 502', (response) => void response.writeHead(502).end('<html>')],
    ['429', (response) => sendJson(response, 429, refusal('rate_limited'), { 'retry-after': '0' })],
    [
      'another type',
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    ],
    ['frames that are no JSON', (response) => sendFrames(response, 'event: run.running\ndata: {"a\n\n')],
    [
      'a refusal in the stream',
      (response) => sendFrames(response, frame('error', { code: 'forbidden', message: 'No.' })),
    ],
    [
      'an ended stream',
      (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
    ],
  ])('%s: tries again as often as it takes', async (_, fail) => {
    await using server = await loopback((response, request, number) =>
      number <= 30 ? fail(response, request, number) : sendFrames(response, eventFrame(1)),
    );
    const states: ReaderState[] = [];
    const items = server.client.events.stream({}, { ...FROM, onState: (state) => states.push(state) });
    expect(ids(await collect(items, 1))).toEqual(['evt_1']);
    const waits = states.filter(({ state }) => state === 'waiting');
    expect(waits.map((wait) => 'attempt' in wait && wait.attempt)).toEqual(
      Array.from({ length: 30 }, (__, i) => i + 1),
    );
    expect(states.at(-1)).toEqual({ state: 'open' });
    expect(server.seen.every((s) => s.headers['last-event-id'] === 'c0')).toBe(true);
  });

  test('silence counts as one, before the answer and after it', async () => {
    await using server = await loopback((response, _, number) => {
      if (number === 2) sendFrames(response, eventFrame(1));
      if (number === 3) sendFrames(response, eventFrame(2));
    });
    const reasons: string[] = [];
    const items = server.client.events.stream(
      {},
      { ...FROM, silenceMs: 100, onState: (s) => s.state === 'waiting' && reasons.push(s.reason.message) },
    );
    expect(ids(await collect(items, 2))).toEqual(['evt_1', 'evt_2']);
    expect(reasons).toEqual(Array(2).fill('The stream was lost: nothing came for 0.1 s'));
    expect(server.seen.map((s) => s.headers['last-event-id'])).toEqual(['c0', 'c0', 'c1']);
  });

  test.each([
    ['7', 7_000],
    ['3600', 600_000],
    ['a date', 20_000],
    [undefined, 0],
  ])('waits as long as Retry-After %s asks, and what is drawn', async (form, asked) => {
    const retryAfter = form === 'a date' ? new Date(Date.now() + asked).toUTCString() : form;
    await using server = await loopback((response) =>
      sendJson(
        response,
        503,
        refusal('service_unavailable'),
        retryAfter ? { 'retry-after': retryAfter } : {},
      ),
    );
    const stop = new AbortController();
    vi.mocked(Math.random).mockReturnValue(0.5);
    let delay = NaN;
    const items = server.client.events.stream(
      {},
      {
        ...FROM,
        signal: stop.signal,
        onState(state) {
          if (state.state !== 'waiting') return;
          delay = state.nextAttemptAt.getTime() - Date.now();
          stop.abort();
        },
      },
    );
    await expect(collect(items, 1)).rejects.toThrow('aborted');
    expect(delay).toBeGreaterThan(asked + 125 - 2_000);
    expect(delay).toBeLessThanOrEqual(asked + 125 + 2);
  });
});

test.each(['cursor_expired', 'cursor_scope_changed'])(
  '%s, as an answer or a frame, becomes a reset from a new head',
  async (code) => {
    await using server = await loopback((response, { url }, number) => {
      if (url.includes('/head')) sendJson(response, 200, { ok: true, cursor: `head${number}` });
      else if (number === 1) sendJson(response, 410, refusal(code));
      else if (number === 3) {
        sendFrames(response, draftFrame('msg_1', 1), frame('error', { code, message: 'No.' }));
        response.end();
      } else sendFrames(response, eventFrame(1));
    });
    const states: string[] = [];
    const items = server.client.events.stream({}, { cursor: 'old', onState: (s) => states.push(s.state) });
    expect(await collect(items, 5)).toMatchObject([
      { kind: 'reset', code, cursor: 'head2' },
      { kind: 'draft' },
      { kind: 'draft.removed' },
      { kind: 'reset', code, cursor: 'head4' },
      { kind: 'event' },
    ]);
    expect(server.seen.at(-1)!.headers['last-event-id']).toBe('head4');
    expect(states.filter((state) => state === 'reset')).toHaveLength(2);
  },
);

describe('an end', () => {
  test('comes with the app of the feed, and with no other', async () => {
    await using server = await loopback((response) =>
      sendFrames(
        response,
        eventFrame(1, 'platform.app.deleted', { appId: 'prj_2' }),
        eventFrame(2, 'platform.app.deleted'),
      ),
    );
    const items = server.client.events.stream({ appId: 'prj_1' }, FROM);
    expect(ids(await collect(items, 9))).toEqual(['evt_1', 'evt_2']);
  });

  test.each([400, 401, 403, 404])('comes with %i', async (status) => {
    await using server = await loopback((response) => sendJson(response, status, refusal('refused')));
    await expect(collect(server.client.events.stream({}, FROM), 1)).rejects.toMatchObject({ status });
    expect(server.seen).toHaveLength(1);
  });

  test.each(['before', 'connecting', 'waiting', 'reading'])('comes with the signal: %s', async (when) => {
    const stop = new AbortController();
    const reason = new Error('enough');
    await using server = await loopback((response) => {
      if (when === 'waiting') return void response.destroy();
      if (when === 'reading') sendFrames(response, eventFrame(1));
      if (when === 'connecting') stop.abort(reason);
    });
    vi.mocked(Math.random).mockReturnValue(1);
    if (when === 'before') stop.abort(reason);
    const items = server.client.events.stream(
      {},
      {
        ...FROM,
        signal: stop.signal,
        onState: (s) => s.state === when && setImmediate(() => stop.abort(reason)),
      },
    );
    if (when === 'reading') {
      expect((await items.next()).value).toMatchObject({ kind: 'event' });
      setImmediate(() => stop.abort(reason));
    }
    await expect(items.next()).rejects.toBe(reason);
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  test('of the loop closes the connection', async () => {
    let isClosed = false;
    await using server = await loopback((response) => {
      response.on('close', () => (isClosed = true));
      sendFrames(response, eventFrame(1));
    });
    await collect(server.client.events.stream({}, FROM), 1);
    await vi.waitFor(() => expect(isClosed).toBe(true));
  });
});

test('a slow consumer stops the reader; if cut for it, the stream continues where the consumer is', async () => {
  const COUNT = 1_500;
  const padding = 'x'.repeat(10_000);
  let congested: ServerResponse | null = null;
  await using server = await loopback((response, { headers }) => {
    const from = Number(String(headers['last-event-id']).slice(1));
    for (let n = from + 1; n <= COUNT; n++)
      sendFrames(response, eventFrame(n, undefined, { data: { padding } }));
    congested ??= response;
  });
  const seen: string[] = [];
  for await (const item of server.client.events.stream({}, FROM)) {
    seen.push(...ids([item]));
    if (seen.length === 1) {
      // Until the kernel's buffers are full, and nothing moves any more.
      let left = NaN;
      await vi.waitFor(() => expect([left, (left = congested!.writableLength)][0]).toBe(left), {
        interval: 100,
      });
      expect(left).toBeGreaterThan(5_000_000);
      congested!.destroy();
    }
    if (seen.length === COUNT) break;
  }
  expect(seen).toEqual(Array.from({ length: COUNT }, (_, i) => `evt_${i + 1}`));
  expect(server.seen).toHaveLength(2);
});

describe('drafts', () => {
  const THREAD = { appId: 'prj_1', threadId: 'thr_1' };

  test('are shown once for each revision, and removed once, over connections', async () => {
    await using server = await loopback((response, _, number) => {
      if (number === 1) sendFrames(response, draftFrame('msg_1', 1), draftFrame('msg_1', 2));
      // The same one again, then a newer one; its removal and the message.
      if (number === 2) {
        sendFrames(response, draftFrame('msg_1', 2), draftFrame('msg_1', 3));
        sendFrames(
          response,
          eventFrame(1, 'message.persisted', { data: { id: 'msg_1' } }),
          draftRemovedFrame('msg_1'),
        );
        sendFrames(response, draftFrame('msg_2', 1));
      }
      // Persisted while no connection was open.
      if (number === 3) {
        sendFrames(
          response,
          eventFrame(2, 'message.persisted', { data: { id: 'msg_2' } }),
          draftFrame('msg_3', 1),
        );
      }
      // Replaced, and ended with its run.
      if (number === 4) sendFrames(response, draftFrame('msg_4', 7));
      if (number === 5) sendFrames(response, eventFrame(3, 'run.cancelled'), eventFrame(4));
      response.end();
    });
    expect(ids(await collect(server.client.events.stream(THREAD, FROM), 14))).toEqual([
      'msg_1 1',
      'msg_1 2',
      'msg_1 3',
      'evt_1',
      'no msg_1',
      'msg_2 1',
      'evt_2',
      'no msg_2',
      'msg_3 1',
      'no msg_3',
      'msg_4 7',
      'evt_3',
      'no msg_4',
      'evt_4',
    ]);
  });
});

test.each(['', '.', '..', null as never])('an app %j is not all apps', async (appId) => {
  await using server = await loopback((response) => sendJson(response, 200, { ok: true, cursor: 'c0' }));
  const { events, threads } = server.client;
  await expect(events.head({ appId })).rejects.toThrow(TypeError);
  await expect(events.stream({ appId }).next()).rejects.toThrow(TypeError);
  await expect(threads.follow(appId, 'thr_1').next()).rejects.toThrow(TypeError);
  await expect(threads.follow('prj_1', appId).next()).rejects.toThrow(TypeError);
  expect(server.seen.filter(({ url }) => !url.startsWith('/api/platform/v1/apps/prj_1/'))).toEqual([]);
});

test('Direct feeds have their own path and filters', async () => {
  await using server = await loopback((response, { url }) => {
    if (url.includes('/head')) sendJson(response, 200, { ok: true, cursor: 'c0' });
    else sendFrames(response, eventFrame(1));
  });
  await collect(
    server.client.events.stream({ direct: true, projectId: 'prj_2', threadId: 'thr_1', runId: 'run_1' }),
    1,
  );
  const query = 'projectId=prj_2&threadId=thr_1&runId=run_1';
  expect(server.seen.map((s) => s.url)).toEqual([`/api/events/head?${query}`, `/api/events/stream?${query}`]);
});
