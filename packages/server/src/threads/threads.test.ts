import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, newBench, ok, refusal, sh, until } from './threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const NO_ID = '01k9x3v5e8f7arh2m4t6w8y0zb';
const counters = (t: Record<string, number>) => [t.version, t.titleVersion, t.archiveVersion];

describe('createThread 201', () => {
  test('a thread as it was asked for, queued, and what it publishes up to its workspace', async () => {
    const { at, sourceId } = await newApp(s);
    const b = await newBench(s);
    const words = await b.during(async () => {
      const { thread } = await ok(
        s.call('POST', `${b.app}/threads`, {
          title: 'T',
          spendLimitMicros: 7,
          metadata: { k: 'v' },
          modelId: 'scripted',
        }),
      );
      expect(thread).toMatchObject({
        title: 'T',
        spendLimitMicros: 7,
        metadata: { k: 'v' },
        modelId: 'scripted',
        status: 'queued',
        initializationState: 'accepted',
        workspaceStatus: null,
        sourceId: b.sourceId,
        latestSourceId: b.sourceId,
        latestRunId: null,
        runSteerable: null,
        waitingOn: [],
        blockedOn: [],
        createdByAutomation: false,
      });
      expect(counters(thread)).toEqual([1, 1, 1]);
      expect(thread.createdByUserId).toMatch(/^sa_/);
      await until(
        'ready',
        async () => (await ok(s.call('GET', `${b.app}/threads/${thread.id}`))).thread.status === 'ready',
      );
    });
    expect(words).toEqual([
      'thread.updated:queued',
      'workspace.recovery.updated',
      'workspace.recovery.updated',
      'thread.updated:ready',
    ]);
    expect((await ok(s.call('POST', `${at}/threads`, { sourceId }))).thread.sourceId).toBe(sourceId);
  });

  test('with a first message: thread, message and run in one', async () => {
    const { at } = await newApp(s);
    const idem = randomUUID();
    const { thread, message, run } = await ok(
      s.call('POST', `${at}/threads`, { message: { content: 'Hello.', clientMessageId: idem } }, { idem }),
    );
    expect([
      message.threadId,
      message.clientMessageId,
      message.runId,
      run.status,
      thread.latestRunId,
      thread.pendingWakeups,
    ]).toEqual([thread.id, idem, run.id, 'queued', run.id, 1]);
    expect(
      (await ok(s.call('GET', `${at}/threads/${thread.id}/runs/${run.id}?waitSeconds=30`))).run.status,
    ).toBe('completed');
  });

  test('a Direct thread passes through all six phases, a Platform one through four, in their order', async () => {
    const { project } = await ok(s.call('POST', '/api/projects', { name: 'Direct' }));
    const { at, appId } = await newApp(s);
    const { db } = s.service.ctx;
    await db.schema
      .createTable('seen_phases')
      .ifNotExists()
      .addColumn('thread_id', 'text')
      .addColumn('phase', 'text')
      .addColumn('n', 'serial')
      .execute();
    await sql`create or replace function see_phase() returns trigger language plpgsql as $$ begin if new.initialization_phase is distinct from old.initialization_phase and new.initialization_phase is not null then insert into seen_phases (thread_id, phase) values (new.id, new.initialization_phase); end if; return new; end $$`.execute(
      db,
    );
    await sql`create or replace trigger see_phase after update on threads for each row execute function see_phase()`.execute(
      db,
    );
    const direct = await ok(
      s.call('POST', '/api/threads', { projectId: project.id, message: { content: 'Hello.' } }),
    );
    const platform = await ok(s.call('POST', `${at}/threads`, { message: { content: 'Hello.' } }));
    for (const { thread, run } of [direct, platform])
      await until(
        'the run',
        async () =>
          (await ok(s.call('GET', `/api/threads/${thread.id}/runs/${run.id}?waitSeconds=10`))).run.status ===
          'completed',
      );
    const phases = async (id: string) =>
      (
        await sql<{
          phase: string;
        }>`select phase from seen_phases where thread_id = ${id} order by n`.execute(db)
      ).rows.map((r) => r.phase);
    expect(await phases(direct.thread.id)).toEqual([
      'provisioning_workspace',
      'resolving_repository',
      'allocating_sandbox',
      'fetching_repository',
      'configuring_workspace',
      'dispatching_run',
    ]);
    expect(await phases(platform.thread.id)).toEqual([
      'provisioning_workspace',
      'allocating_sandbox',
      'configuring_workspace',
      'dispatching_run',
    ]);
    expect((await ok(s.call('GET', `/api/threads/${platform.thread.id}`))).thread.projectId).toBe(appId);
  });
});

describe('createThread 4xx', () => {
  test("sources: none yet, another app's, outside of the head's history", async () => {
    const [bare, other, app] = [await newApp(s, null), await newApp(s), await newApp(s)];
    expect(await refusal(s.call('POST', `${bare.at}/threads`, {}))).toBe('409 head_not_initialized');
    expect(await refusal(s.call('POST', `${app.at}/threads`, { sourceId: other.sourceId }))).toBe(
      '404 source_not_found',
    );
    const { source } = await ok(s.call('POST', `${app.at}/sources`, { files: [] }));
    expect(await refusal(s.call('POST', `${app.at}/threads`, { sourceId: source.id }))).toBe(
      '409 source_not_in_history',
    );
    expect((await ok(s.call('GET', `${app.at}/threads`))).threads).toEqual([]);
  });

  test('all faults of a body together', async () => {
    const { at } = await newApp(s);
    expect(
      await refusal(
        s.call('POST', `${at}/threads`, { title: 'x'.repeat(501), extra: 1, message: { content: '' } }),
      ),
    ).toBe('400 invalid_request /extra /title /message/content');
  });

  test('other tenants, keys without permission or outside of the project', async () => {
    const { at } = await newApp(s);
    const cookie = await signedIn(s);
    const { key: foreign } = await newAccount(s, (await tenant(s)).cookie);
    expect(await refusal(s.call('POST', `${at}/threads`, {}, { key: foreign }))).toBe('404 app_not_found');
    expect(
      await refusal(
        s.call(
          'POST',
          `${at}/threads`,
          {},
          { key: (await newAccount(s, cookie, { permissions: { thread: ['read'] } })).key },
        ),
      ),
    ).toBe('403 forbidden');
    expect(
      await refusal(
        s.call(
          'POST',
          `${at}/threads`,
          {},
          { key: (await newAccount(s, cookie, { projectIds: [`prj_${NO_ID}`] })).key },
        ),
      ),
    ).toBe('403 forbidden');
    expect(await refusal(s.call('POST', '/api/threads', { projectId: `prj_${NO_ID}` }))).toBe(
      '404 project_not_found',
    );
  });
});

describe('updateThread', () => {
  test('each change moves its counters and publishes once; the same again moves and publishes nothing', async () => {
    const b = await newBench(s);
    const before = await b.thread();
    const words = await b.during(async () => {
      for (let i = 0; i < 2; i++) {
        const { thread } = await ok(s.call('PATCH', b.at, { title: 'new', spendLimitMicros: 5 }));
        expect(counters(thread)).toEqual([
          before.version + 1,
          before.titleVersion + 1,
          before.archiveVersion,
        ]);
      }
      await ok(s.call('PATCH', b.at, { status: 'ready' }));
      await ok(s.call('PATCH', b.at, {}));
      await ok(s.call('PATCH', b.at, { title: null, spendLimitMicros: null }));
    });
    expect(words).toEqual(['thread.updated:ready', 'thread.updated:ready']);
    expect(await b.thread()).toMatchObject({ title: null, spendLimitMicros: null });
  });

  test('a failed expectation changes nothing at all and tells the counters', async () => {
    const b = await newBench(s);
    const before = await b.thread();
    for (const expected of ['expectedVersion', 'expectedTitleVersion', 'expectedArchiveVersion']) {
      const answer = await s.call('PATCH', b.at, { title: 'x', archived: true, [expected]: 99 });
      expect([answer.status, answer.body.error.code, answer.body.error.current]).toEqual([
        409,
        'version_conflict',
        { version: before.version, titleVersion: before.titleVersion, archiveVersion: before.archiveVersion },
      ]);
    }
    expect(await b.thread()).toEqual(before);
  });

  test('400 contradictions, wrong values; 404 unknown', async () => {
    const b = await newBench(s);
    expect(await refusal(s.call('PATCH', b.at, { archived: true, status: 'ready' }))).toBe(
      '400 invalid_request /status',
    );
    expect(await refusal(s.call('PATCH', b.at, { status: 'running', expectedVersion: -1 }))).toMatch(
      /^400 invalid_request/,
    );
    expect(await refusal(s.call('PATCH', `${b.app}/threads/thr_${NO_ID}`, { title: 'x' }))).toBe(
      '404 thread_not_found',
    );
  });
});

describe('archive and delete', () => {
  test("archiving cancels the active run with its open call and the queued run, in the order of the log's table", async () => {
    const b = await newBench(s);
    const { run } = await b.send(sh('echo half > half.txt; sleep 60'));
    await b.working(run.id);
    const queued = (await b.send('later')).run;
    const words = await b.during(async () => {
      expect((await ok(s.call('PATCH', b.at, { archived: true }))).thread.status).toBe('archived');
    }, /^(?!workspace|platform.source|checkpoint)/);
    expect(words).toEqual([
      'tool.updated:cancelled',
      'message.persisted:assistant',
      'run.cancelled',
      'run.cancelled',
      'thread.updated:archived',
    ]);
    expect((await b.ended(queued.id)).startedAt).toBe(null);
    await until(
      'the workspace to be put away',
      async () => (await b.thread()).workspaceStatus === 'archived',
    );
    // The run's files are in a recovery source.
    const [saved] = await b.list('checkpoints');
    expect([
      saved.kind,
      (await b.files(saved.sourceId))['half.txt'],
      (await b.thread()).latestSourceId,
    ]).toEqual(['recovery', 'half\n', b.sourceId]);
    expect((await b.list('workspace/history'))[0]).toMatchObject({
      from: 'ready',
      to: 'archived',
      sourceId: saved.sourceId,
    });
  });

  test('a thread that is unarchived at once shows its next run nothing of what was cut off', async () => {
    const b = await newBench(s);
    const { run } = await b.send(sh('echo half > half.txt; echo changed > a.txt; sleep 60'));
    await b.working(run.id);
    await until('the file', async () =>
      (await s.service.ctx.runner.tasks()).some(
        (t) => t.workspaceId === b.threadId && t.status === 'running',
      ),
    );
    await ok(s.call('PATCH', b.at, { archived: true }));
    expect((await ok(s.call('PATCH', b.at, { archived: false }))).thread.status).toBe('ready');
    const next = await b.work(sh('ls > seen.txt; cat a.txt >> seen.txt'));
    expect((await b.files(next.resultSourceId))['seen.txt']).toBe('a.txt\nseen.txt\na\n');
  });

  test('every kind of work on an archived thread is refused; reads go on; unarchiving makes it ready', async () => {
    const b = await newBench(s);
    await b.work(sh('exit 1'), 'failed');
    expect((await b.thread()).status).toBe('failed');
    await ok(s.call('PATCH', b.at, { status: 'archived' }));
    for (const [path, body] of [
      ['messages', { content: 'x' }],
      ['retry', {}],
      ['exec', { command: 'true' }],
      ['edits', { expectedSourceId: b.sourceId, changes: [{ path: 'b', content: 'b' }] }],
    ] as const)
      expect(await refusal(s.call('POST', `${b.at}/${path}`, body))).toBe('409 thread_archived');
    expect((await b.list('runs')).length).toBe(1);
    expect((await ok(s.call('PATCH', b.at, { status: 'ready' }))).thread).toMatchObject({
      status: 'ready',
      archivedAt: null,
    });
  });

  test('a deleted thread is gone, its sources stay, its workspace goes', async () => {
    const b = await newBench(s);
    const { resultSourceId } = await b.work(sh('echo b > b.txt'));
    const { run } = await b.send(sh('sleep 60'));
    await b.working(run.id);
    expect(await b.during(() => ok(s.call('DELETE', b.at)), /^(?!workspace)/)).toEqual([
      'tool.updated:cancelled',
      'message.persisted:assistant',
      'run.cancelled',
      'thread.deleted:ready',
    ]);
    expect(await refusal(s.call('GET', b.at))).toBe('404 thread_not_found');
    expect(await refusal(s.call('GET', `/api/threads/${b.threadId}`))).toBe('404 thread_not_found');
    expect(Object.keys(await b.files(resultSourceId))).toEqual(['a.txt', 'b.txt']);
    await until('the workspace to go', async () => !(await s.service.ctx.runner.workspaceExists(b.threadId)));
    expect((await s.service.ctx.runner.tasks()).filter((t) => t.workspaceId === b.threadId)).toEqual([]);
  });
});

test('a thread whose initialization failed is ready again once it is unarchived, and the next message prepares it', async () => {
  const b = await newBench(s);
  await s.service.ctx.db
    .updateTable('threads')
    .set({
      initialization_state: 'failed',
      initialization_error_code: 'workspace_unavailable',
      status: 'failed',
    })
    .where('id', '=', b.threadId)
    .execute();
  await ok(s.call('PATCH', b.at, { status: 'archived' }));
  expect((await ok(s.call('PATCH', b.at, { status: 'ready' }))).thread).toMatchObject({
    status: 'ready',
    initializationState: 'cancelled',
  });
  await b.work(sh('true'));
  expect(await b.thread()).toMatchObject({ initializationState: 'completed', initializationErrorCode: null });
});

test('an execution target that names no host is refused; an app has none', async () => {
  const { project } = await ok(s.call('POST', '/api/projects', { name: 'n' }));
  const { appId } = await newApp(s);
  const executionTarget = {
    kind: 'local',
    bindingId: 'b',
    hostId: 'h',
    provider: 'agent_a',
    workspaceMode: 'direct',
  };
  const create = (body: object) => s.call('POST', '/api/threads', body);
  expect(await refusal(create({ projectId: project.id, executionTarget }))).toBe('404 host_not_found');
  expect(await refusal(create({ projectId: appId, executionTarget }))).toBe(
    '400 invalid_request /executionTarget',
  );
  expect((await create({ projectId: project.id })).status).toBe(201);
  expect((await ok(s.call('GET', `/api/threads?projectId=${project.id}`))).threads).toHaveLength(1);
});

describe('lists', () => {
  test("newest first, by status and by page, without other apps' threads", async () => {
    const { at } = await newApp(s);
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.unshift((await ok(s.call('POST', `${at}/threads`, {}))).thread.id);
    await ok(s.call('PATCH', `${at}/threads/${ids[1]!}`, { archived: true }));
    const first = await ok(s.call('GET', `${at}/threads?limit=2`));
    const second = await ok(
      s.call('GET', `${at}/threads?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`),
    );
    expect([...first.threads, ...second.threads].map((t) => t.id)).toEqual(ids);
    expect([first.hasMore, second.hasMore, second.nextCursor]).toEqual([true, false, null]);
    expect(
      (await ok(s.call('GET', `${at}/threads?status=archived`))).threads.map((t: { id: string }) => t.id),
    ).toEqual([ids[1]]);
    expect(
      await refusal(
        s.call('GET', `${at}/threads?status=archived&cursor=${encodeURIComponent(first.nextCursor)}`),
      ),
    ).toBe('400 invalid_cursor');
    expect(await refusal(s.call('GET', `${at}/threads?limit=201`))).toBe('400 invalid_request /query/limit');
    expect(
      (await ok(s.call('GET', `/api/threads?projectId=${at.split('/').at(-1)!}&archived=true`))).threads.map(
        (t: { id: string }) => t.id,
      ),
    ).toEqual([ids[1]]);
  });
});
