import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { transaction } from '../db/transaction.ts';
import type { Job } from '../jobs/job.ts';
import { localProvider } from '../scm/local/provider.ts';
import { rowsOf } from '../fault-tables.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { breakOff, BREAKS } from '../sync/sync.fixture.ts';
import type { Break } from '../sync/sync.fixture.ts';
import { newApp, ok, refusal, sh, until } from '../threads/threads.fixture.ts';
import { automationNow, newAutomation, newProject } from './automations.fixture.ts';
import { endOf, execute } from './execute.job.ts';
import { findForgotten } from './execution-store.ts';

type Json = TestAnswer['body'];

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => s?.close());

const at = (id: string) => `/api/automations/${id}`;
const newPath = async (projectId: string, fields: Json = {}): Promise<string> =>
  at((await newAutomation(s, projectId, fields)).automation.id);
const ran = async (path: string, payload?: Json): Promise<Json> =>
  (await ok(s.call('POST', `${path}/run`, payload ? { payload } : {}))).execution;
const shown = async (one: Json): Promise<Json> =>
  (await ok(s.call('GET', `${at(one.automationId)}/executions/${one.id}`))).execution;
const isOver = ({ status }: Json): boolean => status !== 'queued' && status !== 'running';
const ended = (one: Json): Promise<Json> =>
  until(
    'the execution ends',
    async () => {
      const now = await shown(one);
      return isOver(now) ? now : null;
    },
    50_000,
  );
const running = (one: Json): Promise<Json> =>
  until('the execution runs', async () => {
    const now = await shown(one);
    return now.status === 'running' ? now : null;
  });

describe('an execution ends with its run', () => {
  const run = { started_at: new Date(), error_code: 'script_failed', error_message: 'exit 3' };
  const thread = {
    archived_at: null,
    deleted_at: null,
    initialization_state: 'completed',
    initialization_error_message: null,
  } as const;
  const lost = {
    ...thread,
    initialization_state: 'failed',
    initialization_error_message: 'no branch',
  } as const;

  test.each([
    ['completed', run, thread, { event: 'complete' }],
    ['cancelled', run, thread, { event: 'cancel' }],
    ['failed', run, thread, { event: 'fail', error: { code: 'script_failed', message: 'exit 3' } }],
    // The thread's preparation failed later, for another run.
    ['failed', run, lost, { event: 'fail', error: { code: 'script_failed', message: 'exit 3' } }],
    [
      'failed',
      { ...run, started_at: null },
      lost,
      { event: 'fail', error: { code: 'initialization_failed', message: 'no branch' } },
    ],
    ['queued', run, thread, null],
    ['running', run, thread, null],
    ['waiting', run, thread, null],
    ['running', run, { ...thread, archived_at: new Date() }, { event: 'cancel' }],
    ['running', run, { ...thread, deleted_at: new Date() }, { event: 'cancel' }],
    ['completed', run, { ...thread, archived_at: new Date() }, { event: 'complete' }],
  ] as const)('%s', (status, columns, of, end) => {
    expect(endOf({ ...columns, status }, of)).toEqual(end);
  });
});

describe('of an app', () => {
  test('an execution works in a thread from the head, and fails without a head', async () => {
    const { appId, sourceId } = await newApp(s);
    const path = await newPath(appId, { prompt: sh('cat a.txt > b.txt') });
    const done = await ended(await ran(path));
    expect(done).toMatchObject({ status: 'completed', error: null });
    const { thread } = await ok(s.call('GET', `/api/platform/v1/apps/${appId}/threads/${done.threadId}`));
    expect([thread.sourceId, thread.createdByAutomation]).toEqual([sourceId, true]);
    const bare = await newApp(s, null);
    const failed = await ended(await ran(await newPath(bare.appId)));
    expect([failed.status, failed.error.code, failed.threadId]).toEqual([
      'failed',
      'head_not_initialized',
      null,
    ]);
  });
});

test('the limit of consecutive failures disables the automation, cancels queued executions, and is audited without a user', async () => {
  const projectId = await newProject(s);
  const path = await newPath(projectId, {
    prompt: sh('sleep {{payload.seconds}}\nexit 3'),
    overlap: 'queue',
    disableAfterFailures: 1,
  });
  const first = await ran(path, { seconds: 1 });
  const waiting = [await ran(path, { seconds: 0 }), await ran(path, { seconds: 0 })];
  expect((await ended(first)).error.code).toBe('script_failed');
  for (const one of waiting)
    expect(await ended(one)).toMatchObject({ status: 'cancelled', threadId: null, error: null });
  expect(await automationNow(s, path.split('/').at(-1)!)).toMatchObject({
    disabledReason: 'failures',
    consecutiveFailures: 1,
    nextRunAt: null,
  });
  const entries = await s.service.ctx.db
    .selectFrom('audit_entries')
    .select(['action', 'actor_id'])
    .where('target_id', '=', path.split('/').at(-1)!)
    .orderBy('id')
    .execute();
  expect(entries.at(-1)).toEqual({ action: 'automation.disabled', actor_id: null });
});

test('a prompt that is empty after expansion fails like an empty message', async () => {
  const path = await newPath(await newProject(s), { prompt: '{{payload.text}}' });
  expect(await ended(await ran(path))).toMatchObject({
    status: 'failed',
    threadId: null,
    error: { code: 'invalid_request' },
  });
});

test('any number of jobs, also concurrent ones, begins and ends it once; a lost job is replaced', async () => {
  const path = await newPath(await newProject(s), { prompt: sh('sleep 1'), overlap: 'allow' });
  const { ctx } = s.service;
  const one = await ran(path);
  const attempt = () =>
    execute(ctx, {
      payload: { executionId: one.id },
      fence: async () => {},
      signal: new AbortController().signal,
    } as unknown as Job<'automation.execute'>);
  await Promise.all(Array.from({ length: 5 }, attempt));
  const { threadId, runId } = await running(one);
  const { threads } = await ok(s.call('GET', `/api/threads?automationId=${path.split('/').at(-1)!}`));
  expect(threads.map((thread: Json) => [thread.id, thread.latestRunId])).toEqual([[threadId, runId]]);
  // Its run has ended, and nothing says so.
  await until('the run ends', async () => {
    const row = await ctx.db.selectFrom('runs').select('status').where('id', '=', runId).executeTakeFirst();
    return row?.status === 'completed';
  });
  await ended(one);
  const { id } = await ctx.db
    .updateTable('executions')
    .set({ status: 'running', finished_at: null, created_at: sql<Date>`now() - interval '1 minute'` })
    .where('id', '=', one.id)
    .returning('id')
    .executeTakeFirstOrThrow();
  const forgotten = await transaction(ctx, (tx) => findForgotten(tx, 10));
  expect(forgotten.map((row) => row.id)).toEqual([id]);
  await Promise.all(Array.from({ length: 5 }, attempt));
  expect((await shown(one)).status).toBe('completed');
});

describe('with a pull request', { timeout: 90_000 }, () => {
  async function newBoundProject() {
    const { repository } = await ok(
      s.call('POST', '/api/source-control/scm/repositories', {
        name: `r-${randomUUID()}`,
        files: [{ path: 'a.txt', content: 'one\n' }],
      }),
    );
    const { project } = await ok(
      s.call('POST', '/api/projects', { name: 'Garden', repositoryId: repository.id }),
    );
    const pulls = async (): Promise<Json[]> =>
      (await ok(s.call('GET', `/api/source-control/scm/repositories/${repository.id}/pull-requests`)))
        .pullRequests;
    return { projectId: project.id as string, pulls };
  }
  const prompt = sh('echo new > b.txt');
  const ways = Object.keys(BREAKS) as Break[];

  const cases = [
    ...ways
      .filter((how) => how.includes('before'))
      .map((how) => ({ what: 'the push', method: 'gitTransport' as const, how, skip: 1 })),
    ...ways.map((how) => ({ what: 'the creation', method: 'createPullRequest' as const, how, skip: 0 })),
  ];
  test.each(rowsOf(cases, 0))(
    '$what $how: one exists, and it is the execution’s',
    async ({ method, how, skip }) => {
      const { projectId, pulls } = await newBoundProject();
      const path = await newPath(projectId, { name: 'Update', pullRequest: 'draft', prompt });
      breakOff(method, how, skip);
      const done = await ended(await ran(path));
      expect([done.status, done.error]).toEqual(['completed', null]);
      const { thread } = await ok(s.call('GET', `/api/threads/${done.threadId}`));
      expect(thread.pullRequests).toMatchObject([{ id: done.pullRequestId, draft: true, state: 'open' }]);
      expect(await pulls()).toMatchObject([{ threadId: done.threadId, title: 'Update' }]);
      const [entry] = await s.service.ctx.db
        .selectFrom('audit_entries')
        .select(['action', 'actor_id'])
        .where('target_id', '=', done.pullRequestId)
        .execute();
      expect(entry).toEqual({ action: 'pull_request.created', actor_id: null });
    },
  );

  test('while it is being opened, no call changes pull requests of the thread', async () => {
    const { projectId } = await newBoundProject();
    const path = await newPath(projectId, { pullRequest: 'open', prompt });
    const [underWay, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const original = localProvider.createPullRequest;
    vi.spyOn(localProvider, 'createPullRequest').mockImplementationOnce(async (...args) => {
      underWay.resolve();
      await goesOn.promise;
      return original(...args);
    });
    const one = await ran(path);
    await underWay.promise;
    const { threadId } = await shown(one);
    const open = () => refusal(s.call('POST', `/api/threads/${threadId}/pull-requests`, {}));
    expect(await open()).toBe('409 thread_busy pull_request');
    goesOn.resolve();
    expect((await ended(one)).status).toBe('completed');
    expect(await open()).toBe('409 pull_request_exists');
  });

  test('a refusal fails the execution; without a change the execution completes without one', async () => {
    const { projectId, pulls } = await newBoundProject();
    const refused = await newPath(projectId, {
      pullRequest: 'open',
      prompt: `${prompt}\n\n${sh('sleep 1')}`,
    });
    const one = await running(await ran(refused));
    // Its preparation needs the branch.
    await until('its thread to be prepared', async () => {
      const { thread } = await ok(s.call('GET', `/api/threads/${one.threadId}`));
      return thread.initializationState === 'completed';
    });
    await s.service.ctx.db
      .updateTable('threads')
      .set({ base_branch: 'gone' })
      .where('id', '=', one.threadId)
      .execute();
    expect((await ended(one)).error).toEqual({
      code: 'pull_request_failed',
      message: expect.stringMatching(/^branch_not_found: /),
    });
    const idle = await newPath(projectId, { pullRequest: 'open', prompt: sh('true') });
    expect(await ended(await ran(idle))).toMatchObject({ status: 'completed', pullRequestId: null });
    expect(await pulls()).toEqual([]);
  });
});
