/**
 * The work on an apply breaks off at each of its steps: its worker is gone for good, or comes back after
 * another has done its work, or the step fails. The next job comes to the same end, and the head moves once.
 */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rowsOf } from '../fault-tables.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { draftsOf, P } from './applies.fixture.ts';

let server: TestServer;
let d: ReturnType<typeof draftsOf>;
beforeAll(async () => {
  // Staged objects that nothing uses are removed after this many seconds.
  server = await startTestServer({ HEADRACE_CLEANUP_GRACE_SECONDS: '5' });
  d = draftsOf(server);
});
afterAll(() => server.close());

const lines = (change: Record<number, string>) =>
  Array.from({ length: 30 }, (_, i) => `${change[i] ?? i}\n`).join('');
/** Git merges these lines, so that there are bytes to stage. */
const clash = () =>
  d.diverged({ a: lines({}) }, { a: lines({ 2: 'HEAD' }) }, { a: lines({ 25: 'DRAFT' }), b: 'b\n' });
type Clash = Awaited<ReturnType<typeof clash>>;

/** Runs `at` when the work on the next apply reaches this step for the first time. */
type Step = (at: () => Promise<void>) => void;

const inMerger =
  (isAfter: boolean): Step =>
  (at) => {
    const { ctx } = server.service;
    const { merger } = ctx;
    ctx.merger = {
      ...merger,
      async merge(request) {
        ctx.merger = merger;
        if (!isAfter) await at();
        const result = await merger.merge(request);
        if (isAfter) await at();
        return result;
      },
    };
  };

const inStore =
  (isAfter: boolean): Step =>
  (at) => {
    const { ctx } = server.service;
    const { store } = ctx;
    ctx.store = new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (name !== 'put') return typeof member === 'function' ? (member.bind(target) as unknown) : member;
        return async (...args: Parameters<typeof store.put>) => {
          ctx.store = store;
          if (!isAfter) await at();
          await store.put(...args);
          if (isAfter) await at();
        };
      },
    });
  };

const STEPS: [name: string, step: Step][] = [
  ['before the merge', inMerger(false)],
  ['when the merge has answered', inMerger(true)],
  ['when an object was registered', inStore(false)],
  ['when it was put', inStore(true)],
];

/** Makes the worker of the project's job disappear: its row, and what only it knows. */
const loseWorker = (projectId: string) =>
  server.service.ctx.db
    .updateTable('jobs')
    .set({ worker_id: 'wrk_gone' })
    .where('key', '=', `apply:${projectId}`)
    .where('status', '=', 'active')
    .execute();

/** Expects the end of an undisturbed apply. */
async function expectAppliedOnce(draft: Clash, id: string): Promise<void> {
  expect(await d.ended(draft.appId, id)).toMatchObject({
    status: 'applied',
    headSourceId: draft.head,
    conflicts: [],
    error: null,
  });
  // The job ends last.
  await vi.waitFor(
    async () =>
      expect(
        await server.service.ctx.db
          .selectFrom('jobs')
          .select('id')
          .where('key', '=', `apply:${draft.appId}`)
          .execute(),
      ).toEqual([]),
    10_000,
  );
  const { heads } = (await server.call('GET', `${P}/apps/${draft.appId}/source-head/history`)).body as {
    heads: { sourceId: string; revision: number; applyId: string | null }[];
  };
  expect(heads.map(({ revision, applyId }) => [revision, applyId === id])).toEqual([
    [1, false],
    [2, false],
    [3, true],
  ]);
  expect(await d.files(draft.appId, heads[2]!.sourceId)).toEqual({
    a: lines({ 2: 'HEAD', 25: 'DRAFT' }),
    b: 'b\n',
  });
  const { thread } = (await server.call('GET', `/api/threads/${draft.threadId}`)).body;
  expect(thread).toMatchObject({
    sealedAt: expect.any(String),
    blockedOn: [],
    latestSourceId: draft.sourceId,
  });
  const { events } = (await server.call('GET', `${P}/apps/${draft.appId}/events?limit=100`)).body as {
    events: { type: string; data: { id?: string } }[];
  };
  const from = events.findIndex(({ data }) => data.id === id);
  expect(
    events
      .slice(from)
      .map(({ type }) => type)
      .filter((type) => type.startsWith('platform.')),
  ).toEqual([
    'platform.apply.queued',
    'platform.source.imported',
    'platform.apply.applied',
    'platform.head.updated',
  ]);
}

/** The ways in which the work breaks off at a step. */
const WAYS: [name: string, end: (step: Step) => Promise<void>][] = [
  [
    'its worker is gone',
    async (step) => {
      const draft = await clash();
      const end = vi.fn(async () => {
        await loseWorker(draft.appId);
        await new Promise(() => {});
      });
      step(end);
      await expectAppliedOnce(draft, (await d.queue(draft)).id);
      expect(end).toHaveBeenCalledTimes(1);
    },
  ],
  [
    'its worker comes back late',
    async (step) => {
      const draft = await clash();
      const isDone = Promise.withResolvers<void>();
      const isBack = Promise.withResolvers<void>();
      step(async () => {
        await loseWorker(draft.appId);
        await isDone.promise;
        isBack.resolve();
      });
      const { id } = await d.queue(draft);
      await expectAppliedOnce(draft, id);
      isDone.resolve();
      await isBack.promise;
      const next = await d.draft(draft.appId, draft.base, { c: 'c\n' });
      expect(await d.finish(next)).toMatchObject({ status: 'applied' });
      expect((await d.head(draft.appId)).revision).toBe(4);
    },
  ],
  [
    'it fails',
    async (step) => {
      const draft = await clash();
      const end = vi.fn(() => Promise.reject(new Error('This step fails.')));
      step(end);
      await expectAppliedOnce(draft, (await d.queue(draft)).id);
      expect(end).toHaveBeenCalledTimes(1);
    },
  ],
];

describe.each(STEPS.map(([name, step], turn) => ({ name, step, turn })))('$name', ({ step, turn }) => {
  test.each(rowsOf(WAYS, turn))('%s', (_, end) => end(step));
});

describe('in the last transaction', () => {
  test('the connection is lost before its commit', async () => {
    const draft = await clash();
    const { db } = server.service.ctx;
    await sql`create sequence crashes`.execute(db);
    // Fails once, at the commit itself: a sequence does not roll back.
    await sql`create function crash() returns trigger language plpgsql as $$ begin if nextval('crashes') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; return null; end $$`.execute(
      db,
    );
    await sql`create constraint trigger crash after insert on head_history deferrable initially deferred for each row execute function crash()`.execute(
      db,
    );
    await expectAppliedOnce(draft, (await d.queue(draft)).id).finally(() =>
      sql`drop trigger crash on head_history`.execute(db),
    );
    expect(
      (await sql<{ last: number }>`select last_value::int as last from crashes`.execute(db)).rows,
    ).toEqual([{ last: 2 }]);
  });

  test('its commit is not heard of', async () => {
    const draft = await clash();
    const { ctx } = server.service;
    const { bus } = ctx;
    const unheard = vi.fn(() => {
      throw new Error('The connection is lost.');
    });
    inStore(true)(() => {
      ctx.bus = {
        ...bus,
        notify: (channel, ...rest) => {
          if (channel !== 'outbox') return bus.notify(channel, ...rest);
          ctx.bus = bus;
          bus.notify(channel, ...rest);
          unheard();
        },
      };
      return Promise.resolve();
    });
    await expectAppliedOnce(draft, (await d.queue(draft)).id);
    expect(unheard).toHaveBeenCalledTimes(1);
  });
});

test('nothing that was staged is left', async () => {
  const { db, config } = server.service.ctx;
  const root = join(config.dataDir, 'objects');
  await vi.waitFor(async () => {
    const rows = await db.selectFrom('objects').select(['key', 'committed_at']).orderBy('key').execute();
    expect(rows.filter((row) => row.committed_at === null)).toEqual([]);
    const stored = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)));
    expect(stored.toSorted()).toEqual(rows.map(({ key }) => key).toSorted());
  }, 20_000);
});
