import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { transaction } from '../db/transaction.ts';
import { moveHead } from '../projects/index.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { wordsDuring } from '../threads/threads.fixture.ts';
import { draftsOf, holdMerges, P } from './applies.fixture.ts';
import type { Draft } from './applies.fixture.ts';

let server: TestServer;
let d: ReturnType<typeof draftsOf>;
beforeAll(async () => {
  server = await startTestServer();
  d = draftsOf(server);
});
afterAll(() => server.close());

const manual = { conflictResolution: 'manual' };

/** Applies a draft to the end, with nothing else under way; returns all events meanwhile. */
async function eventsOf(draft: Draft, fields = {}): Promise<string[]> {
  await vi.waitFor(async () => expect((await threadOf(draft.threadId)).status).toBe('ready'), 20_000);
  return wordsDuring(server, `${P}/apps/${draft.appId}`, () => d.finish(draft, fields));
}
const ACCEPTED = ['platform.apply.queued', 'thread.updated:blocked'];
const threadOf = async (threadId: string) =>
  (await server.call('GET', `/api/threads/${threadId}`)).body.thread;

/** Makes the worker of the project's job disappear: its row, and what only it knows. */
async function loseWorker(projectId: string, change: Record<string, number> = {}): Promise<void> {
  await server.service.ctx.db
    .updateTable('jobs')
    .set({ worker_id: 'wrk_gone', ...change })
    .where('key', '=', `apply:${projectId}`)
    .execute();
}

describe('applied', () => {
  test('the draft itself where the head is its base, else the merge; the thread is sealed; the events in one order', async () => {
    const { appId, sourceId } = await d.app({ a: 'a\n' });
    const [one, two] = [
      await d.draft(appId, sourceId, { b: 'b\n' }),
      await d.draft(appId, sourceId, { c: 'c\n' }),
    ];
    await vi.waitFor(async () => expect((await threadOf(two.threadId)).status).toBe('ready'), 20_000);
    expect(await eventsOf(one)).toEqual([
      ...ACCEPTED,
      'platform.apply.applied',
      'platform.head.updated',
      'thread.updated:ready',
    ]);
    expect(await eventsOf(two)).toEqual([
      ...ACCEPTED,
      'platform.source.imported',
      'platform.apply.applied',
      'platform.head.updated',
      'thread.updated:ready',
    ]);
    const {
      applies: [apply, first],
    } = (await server.call('GET', `${P}/apps/${appId}/applies`)).body;
    expect(first).toMatchObject({
      status: 'applied',
      headSourceId: sourceId,
      resultSourceId: one.sourceId,
      error: null,
      finishedAt: expect.any(String),
    });
    const { source } = (await server.call('GET', `${P}/apps/${appId}/sources/${apply.resultSourceId}`)).body;
    expect(apply).toMatchObject({ headSourceId: one.sourceId, draftSourceId: two.sourceId });
    expect(source).toMatchObject({
      origin: 'apply',
      parentSourceIds: [one.sourceId, two.sourceId],
      threadId: two.threadId,
      runId: null,
    });
    expect(await d.files(appId, apply.resultSourceId)).toEqual({ a: 'a\n', b: 'b\n', c: 'c\n' });
    expect(await threadOf(two.threadId)).toMatchObject({
      sealedAt: expect.any(String),
      status: 'ready',
      blockedOn: [],
      latestSourceId: two.sourceId,
    });
  });

  test('a result that is the head keeps its source and adds a revision', async () => {
    const same = await d.diverged({ a: 'a\n' }, { a: 'A\n' }, { a: 'A\n' });
    const nothing = await d.draft(same.appId, same.base, {});
    for (const draft of [same, nothing])
      expect(await d.finish(draft)).toMatchObject({
        status: 'applied',
        headSourceId: same.head,
        resultSourceId: same.head,
      });
    expect(await d.head(same.appId)).toMatchObject({ sourceId: same.head, revision: 4 });
  });

  test('a merged text is stored and can be read', async () => {
    const lines = (change: Record<number, string>) =>
      Array.from({ length: 30 }, (_, i) => `${change[i] ?? i}\n`).join('');
    const draft = await d.diverged(
      { a: lines({}) },
      { a: lines({ 2: 'HEAD' }) },
      { a: lines({ 25: 'DRAFT' }) },
    );
    const apply = await d.finish(draft);
    expect(await d.files(draft.appId, apply.resultSourceId!)).toEqual({
      a: lines({ 2: 'HEAD', 25: 'DRAFT' }),
    });
  });

  test('the history leads from each head to its draft and who had it applied', async () => {
    const { appId, sourceId } = await d.app({ a: 'a\n' });
    const drafts = [
      await d.draft(appId, sourceId, { b: 'b\n' }),
      await d.draft(appId, sourceId, { c: 'c\n' }),
    ];
    for (const draft of drafts) await d.finish(draft);
    const { heads } = (await server.call('GET', `${P}/apps/${appId}/source-head/history`)).body as {
      heads: { sourceId: string; applyId: string | null }[];
    };
    expect(heads.map((h) => h.applyId === null)).toEqual([true, false, false]);
    for (const [i, draft] of drafts.entries()) {
      const { apply } = (await server.call('GET', `${P}/apps/${appId}/applies/${heads[i + 1]!.applyId}`))
        .body;
      expect(apply).toMatchObject({
        threadId: draft.threadId,
        draftSourceId: draft.sourceId,
        resultSourceId: heads[i + 1]!.sourceId,
        createdByUserId: expect.stringMatching(/^sa_/),
      });
    }
  });

  test('many at once go one after the other in the order of their sequence', async () => {
    const { appId, sourceId } = await d.app({ a: 'a\n' });
    const drafts = await Promise.all(
      Array.from({ length: 8 }, (_, i) => d.draft(appId, sourceId, { [`f${i}`]: `${i}\n` })),
    );
    const queued = await Promise.all(drafts.map((draft) => d.queue(draft)));
    const ended = (await Promise.all(queued.map(({ id }) => d.ended(appId, id)))).sort(
      (a, b) => a.sequence - b.sequence,
    );
    const { heads } = (await server.call('GET', `${P}/apps/${appId}/source-head/history`)).body as {
      heads: { sourceId: string; applyId: string | null }[];
    };
    expect(heads.slice(1).map((h) => h.applyId)).toEqual(ended.map((a) => a.id));
    ended.forEach((a, i) =>
      expect([a.headSourceId, a.resultSourceId]).toEqual([heads[i]!.sourceId, heads[i + 1]!.sourceId]),
    );
    expect(Object.keys(await d.files(appId, heads.at(-1)!.sourceId))).toEqual([
      'a',
      ...drafts.map((_, i) => `f${i}`),
    ]);
  });
});

describe('conflicted', () => {
  test('names the paths, leaves the head and opens the draft again', async () => {
    const draft = await d.diverged(
      { a: 'a\n', b: 'b\n' },
      { a: 'A1\n', b: 'B1\n' },
      { a: 'A2\n', b: 'B2\n' },
    );
    expect(await eventsOf(draft, manual)).toEqual([
      ...ACCEPTED,
      'platform.apply.conflicted',
      'thread.updated:ready',
    ]);
    expect(await d.finish(draft, manual)).toMatchObject({
      status: 'conflicted',
      conflicts: ['a', 'b'],
      error: null,
      headSourceId: draft.head,
      resultSourceId: null,
      repairs: [],
    });
    expect(await d.head(draft.appId)).toMatchObject({ sourceId: draft.head, revision: 2 });
    expect(await threadOf(draft.threadId)).toMatchObject({
      sealedAt: null,
      blockedOn: [],
      latestSourceId: draft.sourceId,
    });
    const partly = await d.finish(draft, {
      expectedHeadSourceId: draft.head,
      resolutions: [{ path: 'a', take: 'draft' }],
    });
    expect(partly).toMatchObject({ status: 'conflicted', conflicts: ['b'], error: null });
  });

  test('in agent mode says how to go on', async () => {
    const apply = await d.finish(await d.diverged({ a: 'a\n' }, { a: 'A1\n' }, { a: 'A2\n' }));
    expect(apply).toMatchObject({
      status: 'conflicted',
      conflicts: ['a'],
      repairs: [],
      error: expect.stringMatching(/^not_configured: /),
    });
  });

  test('a head that moves after a pinned apply was admitted', async () => {
    const first = await d.diverged({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' });
    const pinned = await d.draft(first.appId, first.base, { e: 'e\n' });
    const merges = holdMerges(server);
    const queued = await d.queue(first);
    await merges.begun();
    const late = await d.queue(pinned, { expectedHeadSourceId: first.head });
    merges.release();
    expect(await d.ended(first.appId, queued.id)).toMatchObject({ status: 'applied' });
    expect(await d.ended(first.appId, late.id)).toMatchObject({
      status: 'conflicted',
      conflicts: [],
      error: expect.stringMatching(/^stale_head: /),
      resultSourceId: null,
    });
    expect((await threadOf(pinned.threadId)).sealedAt).toBe(null);
  });
});

describe('failed', () => {
  test('a merge with too many files', async () => {
    const { appId, sourceId } = await d.app(
      Object.fromEntries(Array.from({ length: 9_998 }, (_, i) => [`f${i}`, `${i % 7}`])),
    );
    const [one, two] = [
      await d.draft(appId, sourceId, { x: 'x', y: 'y' }),
      await d.draft(appId, sourceId, { z: 'z' }),
    ];
    await d.finish(one);
    expect(await d.finish(two)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^invalid_result: .*10001 files/),
      headSourceId: one.sourceId,
      resultSourceId: null,
    });
    expect(await d.head(appId)).toMatchObject({ sourceId: one.sourceId, revision: 2 });
    expect((await threadOf(two.threadId)).sealedAt).toBe(null);
    const smaller = await server.call('POST', `${P}/apps/${appId}/threads/${two.threadId}/edits`, {
      expectedSourceId: two.sourceId,
      changes: [{ path: 'f0', content: null }],
    });
    expect(await d.finish({ ...two, sourceId: smaller.body.source.id })).toMatchObject({
      status: 'applied',
      headSourceId: one.sourceId,
    });
  });

  test('archiving the thread cancels its apply, also in the middle of its merge', async () => {
    const draft = await d.diverged({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' });
    const merges = holdMerges(server);
    const { id } = await d.queue(draft);
    await merges.begun();
    await server.call('PATCH', `/api/threads/${draft.threadId}`, { archived: true });
    merges.release();
    expect(await d.ended(draft.appId, id)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^cancelled: /),
      resultSourceId: null,
    });
    const next = await d.draft(draft.appId, draft.base, { e: 'e\n' });
    expect(await d.finish(next)).toMatchObject({ status: 'applied', headSourceId: draft.head });
  });

  test('sources that cannot be merged after the last attempt; those behind it go on', async () => {
    const draft = await d.diverged({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' });
    const next = await d.draft(draft.appId, draft.base, { e: 'e\n' });
    const { ctx } = server.service;
    const { merger } = ctx;
    const broken = vi
      .fn()
      .mockImplementationOnce(async () => {
        await loseWorker(draft.appId, { failures: 5 });
        return new Promise(() => {});
      })
      .mockRejectedValueOnce(new Error('away'))
      .mockImplementation(merger.merge);
    ctx.merger = { ...merger, merge: broken };
    const { id } = await d.queue(draft);
    const behind = await d.queue(next);
    expect(await d.ended(draft.appId, id)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^source_unavailable: /),
    });
    expect(await d.ended(draft.appId, behind.id)).toMatchObject({ status: 'applied' });
    ctx.merger = merger;
  });
});

describe('whatever happens meanwhile', () => {
  test('a worker that died in the middle is replaced, and what it wanted to write is refused', async () => {
    const draft = await d.diverged({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' });
    const merges = holdMerges(server);
    const { id } = await d.queue(draft);
    await merges.begun();
    await loseWorker(draft.appId);
    await merges.begun(2);
    merges.release();
    expect(await d.ended(draft.appId, id)).toMatchObject({ status: 'applied' });
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
    expect((await d.head(draft.appId)).revision).toBe(3);
  });

  test('a job that is missing is made again', async () => {
    const draft = await d.diverged({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' });
    const merges = holdMerges(server);
    const { id } = await d.queue(draft);
    await merges.begun();
    await server.service.ctx.db.deleteFrom('jobs').where('key', '=', `apply:${draft.appId}`).execute();
    merges.release();
    expect(await d.ended(draft.appId, id)).toMatchObject({ status: 'applied' });
    expect((await d.head(draft.appId)).revision).toBe(3);
  });

  test('a head that moved during the merge is merged anew', async () => {
    const draft = await d.diverged({ a: 'a\n' }, { b: 'b\n' }, { c: 'c\n' });
    const other = await d.draft(draft.appId, draft.base, { x: 'x\n' });
    const merges = holdMerges(server);
    const { id } = await d.queue(draft);
    await merges.begun();
    const { ctx } = server.service;
    await transaction(ctx, async (tx) =>
      moveHead(
        tx,
        await tx.db
          .selectFrom('projects')
          .selectAll()
          .where('id', '=', draft.appId)
          .executeTakeFirstOrThrow(),
        other.sourceId,
        null,
      ),
    );
    merges.release();
    const apply = await d.ended(draft.appId, id);
    expect(apply).toMatchObject({ status: 'applied', headSourceId: other.sourceId });
    expect(await d.files(draft.appId, apply.resultSourceId!)).toEqual({ a: 'a\n', c: 'c\n', x: 'x\n' });
  });
});
