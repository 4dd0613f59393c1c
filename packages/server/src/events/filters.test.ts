/**
 * Each feed with each filter, alone and together: its pages, its replay and its live stream have exactly the
 * events that the filter keeps.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { feedClient, framesOf, P, query } from './feeds.fixture.ts';
import type { Fields, TestEvent } from './feeds.fixture.ts';
import { until } from './events.fixture.ts';

let s: TestServer;
const { createSeededApp, createProject, createThread, page, head, stream } = feedClient(() => s);

interface Work {
  projectId: string;
  threadId: string;
  runId: string;
}
type Name = 'app' | 'all' | 'direct';
const FEEDS: Name[] = ['app', 'all', 'direct'];
/** Two projects of each kind, each with two threads that have a message and its run. */
const work: Record<'platform' | 'direct', Work[]> = { platform: [], direct: [] };

const pathOf = (feed: Name) =>
  ({ app: `${P}/apps/${work.platform[0]!.projectId}/events`, all: `${P}/events`, direct: '/api/events' })[
    feed
  ];

/**
 * A message in a thread: message.persisted, run.queued, thread.updated, on the Direct API
 * operation.updated.
 */
async function send(at: string): Promise<string> {
  const { status, body, text } = await s.call('POST', `${at}/messages`, { content: 'text' });
  expect(status, text).toBe(201);
  return body.run.id;
}
const threadPath = ({ projectId, threadId }: Work) =>
  work.direct.some((one) => one.threadId === threadId)
    ? `/api/threads/${threadId}`
    : `${P}/apps/${projectId}/threads/${threadId}`;

beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  for (let i = 0; i < 2; i++) {
    for (const kind of ['platform', 'direct'] as const) {
      const projectId = await (kind === 'platform' ? createSeededApp() : createProject());
      for (let j = 0; j < 2; j++) {
        const threadId = await createThread(kind === 'platform' ? projectId : null, projectId);
        const runId = await send(
          kind === 'platform' ? `${P}/apps/${projectId}/threads/${threadId}` : `/api/threads/${threadId}`,
        );
        work[kind].push({ projectId, threadId, runId });
      }
    }
  }
  await until(async () => !(await s.service.ctx.db.selectFrom('outbox').select('id').executeTakeFirst()));
});
afterAll(() => s?.close());

/** The filters that a feed takes, each with a value that only some events of the feed have. */
function filtersOf(feed: Name): Fields[] {
  const { projectId, threadId, runId } = work[feed === 'direct' ? 'direct' : 'platform'][0]!;
  const single: Fields[] = [
    { threadId },
    { runId },
    { types: 'run.queued,thread.updated' },
    ...(feed === 'direct' ? [{ projectId }] : []),
  ];
  return [
    {},
    ...single,
    { threadId, types: 'message.persisted' },
    { threadId, runId, types: 'run.queued' },
    ...(feed === 'direct' ? [{ projectId, threadId, runId, types: 'run.queued' }] : []),
  ];
}
const keeps = (fields: Fields) => (event: TestEvent) =>
  Object.entries(fields).every(([name, value]) =>
    name === 'types' ? String(value).split(',').includes(event.type) : event[name as 'threadId'] === value,
  );
const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id);

describe.each(FEEDS)('the feed %s', (feed) => {
  test('has what it must', async () => {
    const { events } = await page(pathOf(feed), { limit: 500 });
    const kind = feed === 'direct' ? 'direct' : 'platform';
    const projects = new Set(work[kind].map(({ projectId }) => projectId).slice(0, feed === 'app' ? 2 : 4));
    expect(new Set(events.map((e) => e.projectId))).toEqual(projects);
    for (const type of ['thread.updated', 'message.persisted', 'run.queued'])
      expect(
        events.some((e) => e.type === type),
        type,
      ).toBe(true);
  });

  test('with each filter: its pages, by one and whole, and a replay on a stream', async () => {
    const all = (await page(pathOf(feed), { limit: 500 })).events;
    for (const fields of filtersOf(feed)) {
      const expected = ids(all.filter(keeps(fields)));
      expect(expected.length, JSON.stringify(fields)).toBeGreaterThan(0);
      if (Object.keys(fields).length)
        expect(expected.length, JSON.stringify(fields)).toBeLessThan(all.length);
      const whole = await page(pathOf(feed), { ...fields, limit: 500 });
      expect(ids(whole.events)).toEqual(expected);
      const single: TestEvent[] = [];
      for (let cursor: string | undefined; single.length < expected.length;) {
        const one = await page(pathOf(feed), { ...fields, limit: 1, ...(cursor ? { cursor } : {}) });
        single.push(...one.events);
        cursor = one.nextCursor;
        expect(one.hasMore).toBe(single.length < expected.length);
      }
      expect(ids(single)).toEqual(expected);
      const replay = await stream(
        `${pathOf(feed)}/stream?${query({ ...fields, cursor: whole.events[0]!.cursor })}`,
      );
      await until(() => framesOf(replay).length >= expected.length - 1);
      expect(ids(framesOf(replay).map(({ data }) => data))).toEqual(expected.slice(1));
      replay.close();
    }
  });

  test('with each filter, live: a stream, a long poll and the pages from its head see the same', async () => {
    const open = await Promise.all(
      filtersOf(feed).map(async (fields) => {
        const cursor = await head(pathOf(feed), fields);
        return {
          fields,
          cursor,
          stream: await stream(`${pathOf(feed)}/stream?${query(fields)}`),
          poll: page(pathOf(feed), { ...fields, cursor, waitSeconds: 20 }),
        };
      }),
    );
    const before = await head(pathOf(feed));
    for (const one of [...work.platform, ...work.direct]) {
      // A message joins the run that waits already: the same run, no further run.queued.
      await s.call('PATCH', threadPath(one), { title: `Title ${Math.random()}` });
      await send(threadPath(one));
    }
    await until(async () => !(await s.service.ctx.db.selectFrom('outbox').select('id').executeTakeFirst()));
    const all = (await page(pathOf(feed), { cursor: before, limit: 500 })).events;
    expect(all.length).toBeGreaterThan(0);
    for (const { fields, cursor, stream: reader, poll } of open) {
      const expected = ids(all.filter(keeps(fields)));
      expect(
        ids((await page(pathOf(feed), { ...fields, cursor, limit: 500 })).events),
        JSON.stringify(fields),
      ).toEqual(expected);
      await until(() => framesOf(reader).length >= expected.length);
      expect(ids(framesOf(reader).map(({ data }) => data)), JSON.stringify(fields)).toEqual(expected);
      reader.close();
      if (expected.length) expect(ids((await poll).events)[0], JSON.stringify(fields)).toBe(expected[0]);
    }
  });
});
