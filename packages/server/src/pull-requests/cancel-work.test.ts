import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BranchUpdate } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { changePullRequest } from './change-pull-request.ts';
import { loopAfter } from './loop-state.ts';
import { newThread, record } from './records.fixture.ts';
import { findPullRequestById, lockPullRequest } from './store.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

const RUNNING: BranchUpdate = {
  status: 'running',
  baseSha: null,
  conflicts: [],
  error: null,
  conflictResolution: 'agent',
  requestedBy: 'sa_1',
  attempts: 0,
  sides: null,
};

test.each([
  ['archived', 'PATCH', { archived: true }],
  ['deleted', 'DELETE', undefined],
] as const)('with a thread that is %s its loop and its update end', async (_, method, body) => {
  const { ctx } = s.service;
  const threadId = await newThread(s);
  const id = await record(ctx, threadId, {}, loopAfter(null, 'enable'));
  await transaction(ctx, async (tx) =>
    changePullRequest(tx, (await lockPullRequest(tx, id))!, { branch_update: RUNNING }),
  );
  const quiet = await record(ctx, threadId, { state: 'closed' });
  expect((await s.call(method, `/api/threads/${threadId}`, body)).status).toBe(200);
  const { row, loop } = (await findPullRequestById(ctx.db, id))!;
  expect([loop!.enabled, loop!.status, loop!.disabled_by]).toEqual([false, 'disabled', 'system']);
  expect([row.state, row.version, row.branch_update!.status, row.branch_update!.error!.code]).toEqual([
    'open',
    3,
    'failed',
    'cancelled',
  ]);
  expect((await findPullRequestById(ctx.db, quiet))!.row.version).toBe(1);
});
