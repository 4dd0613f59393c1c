import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { newId } from '../ids.ts';
import { closeHours } from './close-hours.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

let s: TestServer;
let cookie: string;
let key: string;
const projects = ['one', 'two'].map(() => newId('prj'));
const threads = ['a', 'b', 'c'].map(() => newId('thr'));

beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  const made = await tenant(s);
  cookie = made.cookie;
  ({ key } = await newAccount(s, cookie));
  const { db } = s.service.ctx;
  const orgId = made.organization.id;
  for (const id of projects)
    await db.insertInto('projects').values({ org_id: orgId, id, kind: 'platform', name: 'x' }).execute();
  const add = async (thread: number, day: string, modelId: string, cost: number) => {
    await db
      .insertInto('runs')
      .values({
        org_id: orgId,
        id: newId('run'),
        project_id: projects[thread === 2 ? 1 : 0]!,
        thread_id: threads[thread]!,
        reply_message_id: newId('msg'),
        kind: 'message',
        agent: 'headrace',
        model_id: modelId,
        status: 'completed',
        input_tokens: 100,
        output_tokens: 10,
        cached_tokens: 1,
        cost_micros: cost,
        created_by: 'usr_x',
        created_at: day,
      })
      .execute();
  };
  for (const [i, id] of threads.entries())
    await db
      .insertInto('threads')
      .values({
        org_id: orgId,
        id,
        project_id: projects[i === 2 ? 1 : 0]!,
        listed: true,
        status: 'ready',
        initialization_state: 'completed',
        created_by: 'usr_x',
      })
      .execute();
  await add(0, '2026-01-01T23:59:59.999Z', 'scripted', 0);
  await add(0, '2026-01-02T00:00:00.000Z', 'acme/fast', 5);
  await add(1, '2026-01-02T10:00:00.000Z', 'acme/fast', 7);
  await add(2, '2026-01-03T10:00:00.000Z', 'acme/large', 9_007_199_254_740_000);
});
afterAll(async () => {
  await s?.close();
});

const usage = async (query: string, as = key) =>
  expectStatus(
    await s.call('GET', `/api/usage?from=2026-01-01&to=2026-02-01${query}`, undefined, { key: as }),
    200,
  ).body;
const NOTHING = { day: null, projectId: null, threadId: null, modelId: null };
const sums = (runs: number, costMicros: number) => ({
  runs,
  inputTokens: 100 * runs,
  outputTokens: 10 * runs,
  cachedTokens: runs,
  costMicros,
});

describe('200', () => {
  test('sums by day, project, thread and model', async () => {
    expect((await usage('')).usage).toEqual([
      { ...NOTHING, day: '2026-01-03', ...sums(1, 9_007_199_254_740_000) },
      { ...NOTHING, day: '2026-01-02', ...sums(2, 12) },
      { ...NOTHING, day: '2026-01-01', ...sums(1, 0) },
    ]);
    expect((await usage('&groupBy=project')).usage).toEqual([
      { ...NOTHING, projectId: projects[1], ...sums(1, 9_007_199_254_740_000) },
      { ...NOTHING, projectId: projects[0], ...sums(3, 12) },
    ]);
    expect(
      (await usage('&groupBy=thread')).usage.map(
        (u: { threadId: string; projectId: string; costMicros: number }) => [
          u.threadId,
          u.projectId,
          u.costMicros,
        ],
      ),
    ).toEqual([
      [threads[2], projects[1], 9_007_199_254_740_000],
      [threads[1], projects[0], 7],
      [threads[0], projects[0], 5],
    ]);
    expect(
      (await usage('&groupBy=model')).usage.map((u: { modelId: string; runs: number }) => [
        u.modelId,
        u.runs,
      ]),
    ).toEqual([
      ['scripted', 1],
      ['acme/large', 1],
      ['acme/fast', 2],
    ]);
  });

  test('the time is from `from` until before `to`', async () => {
    const days = async (from: string, to: string) =>
      expectStatus(
        await s.call('GET', `/api/usage?from=${from}&to=${to}`, undefined, { key }),
        200,
      ).body.usage.map((u: { day: string }) => u.day);
    expect(await days('2026-01-02', '2026-01-03T10:00:00Z')).toEqual(['2026-01-02']);
    expect(await days('2026-01-02T00:00:00.001Z', '2026-01-03T10:00:00.001Z')).toEqual([
      '2026-01-03',
      '2026-01-02',
    ]);
    expect(expectStatus(await s.call('GET', '/api/usage', undefined, { key }), 200).body).toEqual({
      ok: true,
      usage: [],
      nextCursor: null,
      hasMore: false,
    });
  });

  test.each(['day', 'project', 'thread', 'model'])('all times are summed at once by %s', async (groupBy) => {
    const { cookie: none } = await tenant(s);
    const { key: idle } = await newAccount(s, none);
    const everSince = async (as: string) =>
      expectStatus(
        await s.call('GET', `/api/usage?from=0001-01-01&to=9999-12-31&groupBy=${groupBy}`, undefined, {
          key: as,
        }),
        200,
      ).body.usage.reduce((sum: number, { runs }: { runs: number }) => sum + runs, 0);
    expect(await everSince(key)).toBe(4);
    expect(await everSince(idle)).toBe(0);
  });

  test('pages hold each group once', async () => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const body: { usage: { day: string }[]; nextCursor: string | null } = await usage(
        `&limit=1${cursor && `&cursor=${cursor}`}`,
      );
      seen.push(...body.usage.map((u) => u.day));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual(['2026-01-03', '2026-01-02', '2026-01-01']);
    const { nextCursor } = await usage('&limit=1');
    expectStatus(
      await s.call('GET', `/api/usage?groupBy=thread&cursor=${nextCursor}`, undefined, { key }),
      400,
    );
  });

  test('a restricted key sums its projects, another organization nothing', async () => {
    const { key: restricted } = await newAccount(s, cookie, { projectIds: [projects[0]] });
    expect(
      (await usage('&groupBy=project', restricted)).usage.map((u: { projectId: string }) => u.projectId),
    ).toEqual([projects[0]]);
    expect((await usage('', s.key)).usage).toEqual([]);
  });
});

describe('closed hours', () => {
  const hour = (ago: number) => new Date(Math.floor(Date.now() / 3_600_000 - ago) * 3_600_000);
  const at = (ago: number, minutes: number) => new Date(hour(ago).getTime() + minutes * 60_000).toISOString();

  test('every time and grouping sums to the same as before they were closed; an hour with an open run stays open', async () => {
    const { cookie: other, organization } = await tenant(s);
    const { key: all } = await newAccount(s, other);
    const own = [newId('prj'), newId('prj')];
    const { db } = s.service.ctx;
    const threadIds = own.map(() => newId('thr'));
    for (const [i, id] of own.entries()) {
      await db
        .insertInto('projects')
        .values({ org_id: organization.id, id, kind: 'platform', name: 'x' })
        .execute();
      await db
        .insertInto('threads')
        .values({
          org_id: organization.id,
          id: threadIds[i]!,
          project_id: id,
          listed: true,
          status: 'ready',
          initialization_state: 'completed',
          created_by: 'usr_x',
        })
        .execute();
    }
    const { key: restricted } = await newAccount(s, other, { projectIds: [own[0]] });
    for (let i = 0; i < 40; i++)
      await db
        .insertInto('runs')
        .values({
          org_id: organization.id,
          id: newId('run'),
          project_id: own[i % 2]!,
          thread_id: threadIds[i % 2]!,
          reply_message_id: newId('msg'),
          kind: 'message',
          agent: 'headrace',
          model_id: `acme/${i % 3}`,
          status: i === 17 ? 'queued' : 'completed',
          input_tokens: i,
          output_tokens: 2 * i,
          cached_tokens: 1,
          cost_micros: 1 << (i % 30),
          created_by: 'usr_x',
          created_at: at(i % 11, (i * 7) % 60),
        })
        .execute();
    const read = async (query: string, as: string) =>
      expectStatus(await s.call('GET', `/api/usage?${query}`, undefined, { key: as }), 200).body.usage;
    const queries = ['day', 'project', 'thread', 'model'].flatMap((groupBy) =>
      [
        [at(12, 0), at(0, 0)],
        [at(9, 30), at(2, 10)],
        [at(5, 10), at(5, 40)],
        [at(5, 0), at(4, 0)],
        ['1970-01-01', at(-1, 0)],
      ].map(([from, to]) => `groupBy=${groupBy}&from=${from}&to=${to}`),
    );
    const readAll = () =>
      Promise.all(queries.flatMap((query) => [read(query, all), read(query, restricted)]));
    const before = await readAll();
    expect(before[0].length).toBeGreaterThan(0);
    await closeHours(s.service.ctx);
    await closeHours(s.service.ctx);
    const closed = await db
      .selectFrom('usage_hours')
      .select('hour')
      .distinct()
      .where('org_id', '=', organization.id)
      .orderBy('hour', 'desc')
      .execute();
    expect(closed.map((row) => row.hour.toISOString())).toEqual(
      [2, 3, 4, 5, 7, 8, 9, 10].map((ago) => at(ago, 0)),
    );
    expect(await readAll()).toEqual(before);
    // A sum that differs shows that the closed hours are what is read.
    await db.updateTable('usage_hours').set({ runs: 1000 }).where('org_id', '=', organization.id).execute();
    expect(await read(queries[0]!, all)).not.toEqual(before[0]);
  });
});

describe('400', () => {
  test('what is no time, no grouping, or ends before it begins', async () => {
    for (const [query, path] of [
      ['from=yesterday', '/query/from'],
      ['to=2026-13-01', '/query/to'],
      ['groupBy=moon', '/query/groupBy'],
      ['from=2026-02-01&to=2026-01-01', '/query/from'],
      ['until=2026-01-01', '/query/until'],
    ]) {
      expect(
        expectStatus(
          await s.call('GET', `/api/usage?${query}`, undefined, { key }),
          400,
        ).body.error.fields.map((f: { path: string }) => f.path),
        query,
      ).toEqual([path]);
    }
  });
});

describe('401', () => {
  test('a key without usage:read', async () => {
    expectStatus(
      await s.call('GET', '/api/usage', undefined, {
        key: (await newAccount(s, cookie, { permissions: { thread: ['read'] } })).key,
      }),
      401,
    );
  });
});
