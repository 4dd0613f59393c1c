import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { changePullRequest } from './change-pull-request.ts';
import type { PullRequestChange } from './change-pull-request.ts';
import { loopAfter } from './loop-state.ts';
import type { LoopChange } from './loop-state.ts';
import { newThread, record } from './records.fixture.ts';
import { findPullRequestById, lockPullRequest } from './store.ts';

let s: TestServer;
let ctx: Context;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  ctx = s.service.ctx;
});
afterAll(async () => {
  await s?.close();
});

const SUMMARY = {
  state: 'open' as const,
  draft: false,
  mergeable: 'mergeable' as const,
  mergeQueued: false,
  checks: { total: 1, succeeded: 1, failing: 0, running: 0 },
  checksAvailable: true,
  commentsAvailable: true,
  unresolvedCount: 0,
};

const change = (id: string, columns: PullRequestChange, loop?: LoopChange) =>
  transaction(ctx, async (tx) => changePullRequest(tx, (await lockPullRequest(tx, id))!, columns, loop));
const published = async (id: string) =>
  (
    await sql<{ status: string }>`
  select data ->> 'status' as status from (select event_id, type, data from events union all select event_id, type, data from outbox) as e
  where type = 'pull_request.updated' and data ->> 'id' = ${id} order by event_id`.execute(ctx.db)
  ).rows.map((e) => e.status);

describe('a change of a pull request', () => {
  test('is counted and published where its object changes, and not where only the times of looks do', async () => {
    const id = await record(ctx, await newThread(s));
    await change(id, { title: 'Two', scm_summary: SUMMARY, scm_summary_updated_at: sql<Date>`now()` });
    const before = (await findPullRequestById(ctx.db, id))!.row;
    await change(id, {
      title: 'Two',
      // A summary with its members in another order is the same.
      scm_summary: Object.fromEntries(Object.entries(SUMMARY).reverse()) as never,
      scm_summary_updated_at: sql<Date>`now() + interval '1 second'`,
      next_look_at: sql<Date>`now()`,
    });
    const { row: after } = (await findPullRequestById(ctx.db, id))!;
    expect([before.version, after.version, await published(id)]).toEqual([2, 2, ['open', 'open']]);
    expect([after.updated_at, after.scm_summary_updated_at! > before.scm_summary_updated_at!]).toEqual([
      before.updated_at,
      true,
    ]);
  });

  test('of its loop counts too, the time of its last observation apart', async () => {
    const id = await record(ctx, await newThread(s));
    await change(id, {}, { enabled: true, status: 'observing' });
    await change(id, {}, { last_observed_at: new Date() });
    await change(id, {}, { enabled: true, status: 'observing' });
    await change(id, {}, loopAfter('observing', 'switchOff'));
    const { row, loop } = (await findPullRequestById(ctx.db, id))!;
    expect([row.version, (await published(id)).length, loop!.status, loop!.disabled_by]).toEqual([
      3,
      3,
      'disabled',
      'user',
    ]);
  });

  test('that closes it ends a push that waits and its loop, in the same event', async () => {
    const id = await record(
      ctx,
      await newThread(s),
      { push_retry_at: new Date() },
      { enabled: true, status: 'observing' },
    );
    await change(id, { push_status: 'pending' });
    const { row, loop } = await change(id, { state: 'closed' });
    expect([row.push_status, row.push_retry_at, loop!.enabled, loop!.disabled_by, row.version]).toEqual([
      'current',
      null,
      false,
      'system',
      3,
    ]);
    expect(await published(id)).toEqual(['open', 'open', 'closed']);
  });
});

test.each(['closed', 'merged'] as const)(
  'an update from the base ends with a pull request that is %s',
  async (state) => {
    const id = await record(ctx, await newThread(s));
    const update = { baseSha: null, conflicts: [], attempts: 0, sides: null, requestedBy: 'sa_1' };
    await change(id, {
      branch_update: { ...update, status: 'running', error: null, conflictResolution: 'agent' },
    });
    const { row } = await change(id, { state });
    expect([row.branch_update!.status, row.branch_update!.error!.code]).toEqual([
      'failed',
      'pull_request_not_open',
    ]);
  },
);

test('a thread shows its pull requests, newest first and without their bodies, and the open one as its primary one', async () => {
  const threadId = await newThread(s);
  const none = (await s.call('GET', `/api/threads/${threadId}`)).body.thread;
  expect([none.pullRequests, none.primaryPullRequest, none.scmPullRequestNumber]).toEqual([[], null, null]);
  const old = await record(ctx, threadId, { state: 'closed', number: 1 });
  const open = await record(ctx, threadId, { number: 2 }, { enabled: true, status: 'observing' });
  const transferred = await record(ctx, threadId, {
    number: 3,
    transferred_at: new Date(),
    auto_push: false,
  });
  const { thread } = (await s.call('GET', `/api/threads/${threadId}`)).body;
  expect(thread.pullRequests.map((p: { id: string }) => p.id)).toEqual([transferred, open, old]);
  expect([thread.primaryPullRequest.id, thread.scmPullRequestNumber]).toEqual([open, 2]);
  expect(thread.primaryPullRequest).toMatchObject({
    title: 'One',
    push: { status: 'current', reason: null, conflicts: [], error: null },
    update: null,
    reviewLoop: { enabled: true, pullRequestId: open },
  });
  expect([thread.primaryPullRequest.body, none.version]).toEqual([undefined, thread.version]);
  expect((await s.call('GET', `/api/threads?limit=1`)).body.threads[0].pullRequests).toHaveLength(3);
});
