import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { record } from '../pull-requests/records.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { ok, refusal } from '../threads/threads.fixture.ts';

type Json = TestAnswer['body'];

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(() => s?.close());

const newProject = async (key = s.key): Promise<string> =>
  (await ok(s.call('POST', '/api/projects', { name: 'Garden' }, { key }))).project.id;
const newTask = async (projectId: string, fields: Json = {}): Promise<Json> =>
  (await ok(s.call('POST', '/api/tasks', { projectId, title: 'Water', ...fields }))).task;
const newThread = async (projectId: string, fields: Json = {}): Promise<Json> =>
  (await ok(s.call('POST', '/api/threads', { projectId, ...fields }))).thread;
const taskNow = async (id: string): Promise<Json> => (await ok(s.call('GET', `/api/tasks/${id}`))).task;
const threadNow = async (id: string): Promise<Json> => (await ok(s.call('GET', `/api/threads/${id}`))).thread;
const patch = (id: string, body: Json) => s.call('PATCH', `/api/tasks/${id}`, body);
const listed = async (query: string): Promise<string[]> =>
  (await ok(s.call('GET', `/api/tasks?limit=200&${query}`))).tasks.map((one: Json) => one.id);
const issue = () => `https://tracker.example.com/items/${randomUUID()}`;

/** The organization's events while `act` runs, without receipts. Writes of projects mark the start and the end. */
async function during(act: () => Promise<unknown>): Promise<string[]> {
  const mark = async () =>
    (await s.call('POST', '/api/projects', { name: 'mark' })).headers.get('x-operation-id')!;
  let { cursor } = await ok(s.call('GET', '/api/events/head'));
  const begin = await mark();
  await act();
  const end = await mark();
  const seen: string[] = [];
  while (!seen.includes(end)) {
    const page = await ok(
      s.call('GET', `/api/events?limit=500&waitSeconds=10&cursor=${encodeURIComponent(cursor)}`),
    );
    expect(page.events.length).toBeGreaterThan(0);
    cursor = page.nextCursor;
    for (const { type, data, threadId } of page.events)
      seen.push(type === 'operation.updated' ? data.id : `${type} ${threadId}`);
  }
  return seen.slice(seen.indexOf(begin) + 1, seen.indexOf(end)).filter((one) => !one.startsWith('op_'));
}

describe('201 and 200', () => {
  test('a task is created, read, changed and deleted', async () => {
    const projectId = await newProject();
    const task = await newTask(projectId);
    expect(task).toEqual({
      id: expect.stringMatching(/^task_/),
      orgId: expect.stringMatching(/^org_/),
      projectId,
      identifier: 'T-1',
      title: 'Water',
      status: 'open',
      trackerIssueUrl: null,
      threadIds: [],
      createdByUserId: expect.stringMatching(/^sa_/),
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: task.createdAt,
    });
    const changed = (await ok(patch(task.id, { title: 'Dig', status: 'in_review' }))).task;
    expect(changed).toEqual({ ...task, title: 'Dig', status: 'in_review', updatedAt: changed.updatedAt });
    expect(changed.updatedAt > task.updatedAt).toBe(true);
    expect((await ok(patch(task.id, {}))).task).toEqual(changed);
    const thread = await newThread(projectId, { taskId: task.id });
    const last = await taskNow(task.id);
    expect(last).toEqual({ ...changed, threadIds: [thread.id] });
    expect((await ok(s.call('DELETE', `/api/tasks/${task.id}`))).task).toEqual(last);
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        await refusal(s.call(method, `/api/tasks/${task.id}`, method === 'PATCH' ? {} : undefined)),
      ).toBe('404 task_not_found');
    const { entries } = (await s.call('GET', '/api/audit', undefined, { cookie: await signedIn(s) })).body;
    expect(entries.filter((e: Json) => e.targetId === task.id).map((e: Json) => e.action)).toEqual([
      'task.deleted',
    ]);
  });

  test('numbers count in each project and are never reused; tasks of issues have none', async () => {
    const projectId = await newProject();
    const made = await Promise.all(Array.from({ length: 8 }, () => newTask(projectId)));
    const numbers = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, i) => `T-${from + i}`);
    expect(made.map((task) => task.identifier).toSorted()).toEqual(numbers(1, 8));
    await newTask(projectId, { trackerIssueUrl: issue() });
    await ok(s.call('DELETE', `/api/tasks/${made.find((task) => task.identifier === 'T-8').id}`));
    expect((await newTask(projectId)).identifier).toBe('T-9');
    expect((await newTask(await newProject())).identifier).toBe('T-1');
  });

  test('lists are newest first, and filter by project and by current status', async () => {
    const projectId = await newProject();
    const [a, b, c] = [await newTask(projectId), await newTask(projectId), await newTask(projectId)];
    await newThread(projectId, { taskId: b.id });
    await ok(patch(c.id, { status: 'cancelled' }));
    expect(await listed(`projectId=${projectId}`)).toEqual([c.id, b.id, a.id]);
    for (const [status, ids] of [
      ['open', [a.id]],
      ['in_progress', [b.id]],
      ['cancelled', [c.id]],
      ['done', []],
    ] as const)
      expect(await listed(`projectId=${projectId}&status=${status}`), status).toEqual(ids);
    expect(await listed('status=in_progress')).toContain(b.id);
    const first = await ok(s.call('GET', `/api/tasks?projectId=${projectId}&limit=2`));
    expect([first.tasks.length, first.hasMore]).toEqual([2, true]);
    const cursor = encodeURIComponent(first.nextCursor);
    expect(await listed(`projectId=${projectId}&cursor=${cursor}`)).toEqual([a.id]);
    expect(
      await refusal(s.call('GET', `/api/tasks?projectId=${projectId}&status=open&cursor=${cursor}`)),
    ).toBe('400 invalid_cursor');
  });
});

describe('the status', () => {
  test('is the one that a person set, else done, in_review, in_progress or open, from the threads', async () => {
    const projectId = await newProject();
    const task = await newTask(projectId);
    const both = async () => {
      const { status, threadIds } = await taskNow(task.id);
      for (const id of threadIds) expect((await threadNow(id)).tasks[0].status).toBe(status);
      return status;
    };
    const threads: string[] = [];
    for (let i = 0; i < 3; i++) threads.push((await newThread(projectId, { taskId: task.id })).id);
    const archive = (id: string, archived: boolean) =>
      ok(s.call('PATCH', `/api/threads/${id}`, { archived }));
    expect(await both()).toBe('in_progress');
    for (const id of threads) await archive(id, true);
    expect(await both()).toBe('open');
    const { ctx } = s.service;
    await record(ctx, threads[0]!, { state: 'closed' });
    expect(await both()).toBe('open');
    await record(ctx, threads[0]!, { state: 'open' });
    expect(await both()).toBe('in_review');
    await record(ctx, threads[1]!, { state: 'merged' });
    expect(await both()).toBe('done');
    for (const status of ['open', 'in_progress', 'in_review', 'done', 'cancelled']) {
      expect((await ok(patch(task.id, { status }))).task.status).toBe(status);
      expect(await both()).toBe(status);
    }
    expect((await ok(patch(task.id, { status: null }))).task.status).toBe('done');
    await ok(s.call('DELETE', `/api/threads/${threads[1]}`));
    expect(await both()).toBe('in_review');
  });
});

describe('a thread', () => {
  test('gets its task once, with an index that is never reused', async () => {
    const projectId = await newProject();
    const task = await newTask(projectId, { trackerIssueUrl: issue() });
    const one = await newThread(projectId, { taskId: task.id });
    expect(one).toMatchObject({
      taskId: task.id,
      taskIdentifier: task.identifier,
      tasks: [
        { id: task.id, identifier: task.identifier, title: 'Water', status: 'in_progress', threadIndex: 1 },
      ],
      trackerIssueUrl: task.trackerIssueUrl,
    });
    const two = await newThread(projectId, { taskId: task.id });
    await ok(s.call('DELETE', `/api/threads/${two.id}`));
    expect((await newThread(projectId, { taskId: task.id })).tasks[0].threadIndex).toBe(3);
    const none = await newThread(projectId);
    expect(['taskId' in none, none.taskIdentifier, none.tasks]).toEqual([false, null, []]);
    expect(await refusal(s.call('PATCH', `/api/threads/${none.id}`, { taskId: task.id }))).toBe(
      '400 invalid_request /taskId',
    );
    // On a page, each thread shows its own task.
    const { threads } = await ok(s.call('GET', `/api/threads?projectId=${projectId}`));
    expect(threads.map((thread: Json) => thread.tasks.map((one: Json) => one.threadIndex))).toEqual([
      [],
      [3],
      [1],
    ]);
  });

  test('of an issue finds or creates its task: twenty concurrent threads create one', async () => {
    const [projectId, other] = [await newProject(), await newProject()];
    const trackerIssueUrl = issue();
    const spellings = ['', '/', '#top', '/#a/'].map(
      (end) => `${trackerIssueUrl.replace('https', 'HTTPS')}${end}`,
    );
    const threads = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        newThread(projectId, { trackerIssueUrl: i === 0 ? trackerIssueUrl : spellings[i % 4] }),
      ),
    );
    expect(new Set(threads.map(({ taskId }) => taskId)).size).toBe(1);
    expect(threads.map(({ tasks }) => tasks[0].threadIndex).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    const task = await taskNow(threads[0].taskId);
    const first = threads.find(({ tasks }) => tasks[0].threadIndex === 1);
    expect(task.trackerIssueUrl).toBe(first.trackerIssueUrl);
    const byIndex = threads.toSorted((a, b) => a.tasks[0].threadIndex - b.tasks[0].threadIndex);
    expect(task.threadIds).toEqual(byIndex.map(({ id }) => id));
    const name = trackerIssueUrl.split('/').at(-1);
    expect([task.title, task.identifier, task.status]).toEqual([name, name, 'in_progress']);
    expect((await newThread(other, { trackerIssueUrl })).taskId).not.toBe(task.id);
    expect((await newThread(projectId, { trackerIssueUrl: `${trackerIssueUrl}?a` })).taskId).not.toBe(
      task.id,
    );
    expect(
      await refusal(s.call('POST', '/api/tasks', { projectId, title: 't', trackerIssueUrl: spellings[3] })),
    ).toBe('409 conflict');
  });

  test('has no task once the task is deleted; the issue gets a new one', async () => {
    const projectId = await newProject();
    const trackerIssueUrl = issue();
    const thread = await newThread(projectId, { trackerIssueUrl });
    await ok(s.call('DELETE', `/api/tasks/${thread.taskId}`));
    const left = await threadNow(thread.id);
    expect(['taskId' in left, left.taskIdentifier, left.tasks, left.trackerIssueUrl, left.version]).toEqual([
      false,
      null,
      [],
      trackerIssueUrl,
      thread.version + 1,
    ]);
    const again = await newThread(projectId, { trackerIssueUrl });
    expect([again.taskId === thread.taskId, again.tasks[0].threadIndex]).toEqual([false, 1]);
  });

  test('is refused if the task and the issue do not match, or the task is in another project', async () => {
    const [projectId, other] = [await newProject(), await newProject()];
    const [own, plain, foreign] = [
      await newTask(projectId, { trackerIssueUrl: issue() }),
      await newTask(projectId),
      await newTask(other),
    ];
    const create = (fields: Json) => s.call('POST', '/api/threads', { projectId, ...fields });
    for (const fields of [
      { taskId: plain.id, trackerIssueUrl: own.trackerIssueUrl },
      { taskId: own.id, trackerIssueUrl: issue() },
    ])
      expect(await refusal(create(fields))).toBe('400 invalid_request /trackerIssueUrl');
    for (const taskId of [foreign.id, 'task_00000000000000000000000000', 'x'])
      expect(await refusal(create({ taskId }))).toBe('404 task_not_found');
    expect((await listed(`projectId=${projectId}`)).length).toBe(2);
    const made = await ok(create({ taskId: own.id, trackerIssueUrl: `${own.trackerIssueUrl}/` }));
    // Refused threads use no index.
    expect(made.thread.tasks[0].threadIndex).toBe(1);
  });
});

describe('thread.updated', () => {
  test('is published for each thread of a task whose title or set status changes, or that is deleted', async () => {
    const projectId = await newProject();
    const task = await newTask(projectId);
    const threads: string[] = [];
    for (let i = 0; i < 2; i++) threads.push((await newThread(projectId, { taskId: task.id })).id);
    await ok(s.call('PATCH', `/api/threads/${threads[1]}`, { archived: true }));
    const gone = await newThread(projectId, { taskId: task.id });
    await ok(s.call('DELETE', `/api/threads/${gone.id}`));
    await newThread(projectId);
    const versions = () => Promise.all(threads.map(async (id) => (await threadNow(id)).version));
    const both = threads.map((id) => `thread.updated ${id}`);
    for (const [body, events] of [
      [{ title: 'Dig' }, both],
      [{ title: 'Dig' }, []],
      [{ status: null }, []],
      // The derived status becomes the set one.
      [{ status: 'in_progress' }, both],
      [{ status: 'done', title: 'Rest' }, both],
      [{ status: 'done' }, []],
      [{ status: null }, both],
    ] as const) {
      const before = await versions();
      expect(await during(() => ok(patch(task.id, body))), JSON.stringify(body)).toEqual(events);
      expect(await versions()).toEqual(before.map((version) => version + (events.length ? 1 : 0)));
    }
    expect(await during(() => ok(s.call('DELETE', `/api/tasks/${task.id}`)))).toEqual(both);
  });

  test('is not published for a derived status', async () => {
    const projectId = await newProject();
    const task = await newTask(projectId);
    const { id } = await newThread(projectId, { taskId: task.id });
    await ok(s.call('PATCH', `/api/threads/${id}`, { archived: true }));
    const events = await during(() => newThread(projectId, { taskId: task.id }));
    expect(events.filter((event) => event.endsWith(id))).toEqual([]);
    expect((await threadNow(id)).tasks[0].status).toBe('in_progress');
  });
});

describe('400', () => {
  test.each([
    [{}, '/projectId /title'],
    [{ projectId: 'prj_1', title: '' }, '/title'],
    [{ projectId: 'prj_1', title: 'x'.repeat(501) }, '/title'],
    [{ projectId: 'prj_1', title: 'x', status: 'open' }, '/status'],
    [{ projectId: 'prj_1', title: 'x', trackerIssueUrl: 'https://me@x/1' }, '/trackerIssueUrl'],
    [{ projectId: 'prj_1', title: 'x', trackerIssueUrl: '/1' }, '/trackerIssueUrl'],
  ])('POST %j', async (body, at) =>
    expect(await refusal(s.call('POST', '/api/tasks', body))).toBe(`400 invalid_request ${at}`),
  );

  test.each([
    [{ title: null }, '/title'],
    [{ status: 'finished' }, '/status'],
    [{ trackerIssueUrl: 'https://x/1' }, '/trackerIssueUrl'],
  ])('PATCH %j', async (body, at) =>
    expect(await refusal(patch('task_1', body))).toBe(`400 invalid_request ${at}`),
  );
});

describe('404', () => {
  test('tasks of other projects or organizations are not found', async () => {
    const cookie = await signedIn(s);
    const [mine, other] = [await newProject(), await newProject()];
    const [own, hidden] = [await newTask(mine), await newTask(other)];
    const { key } = await newAccount(s, cookie, { projectIds: [mine] });
    const as = (method: string, path: string, body?: Json, by = key) =>
      refusal(s.call(method, path, body, { key: by }));
    expect(
      (await ok(s.call('GET', '/api/tasks', undefined, { key }))).tasks.map((one: Json) => one.id),
    ).toEqual([own.id]);
    const far = await newAccount(s, (await tenant(s)).cookie);
    for (const by of [key, far.key]) {
      expect(await as('GET', `/api/tasks/${hidden.id}`, undefined, by)).toBe('404 task_not_found');
      expect(await as('PATCH', `/api/tasks/${hidden.id}`, { title: 'x' }, by)).toBe('404 task_not_found');
      expect(await as('DELETE', `/api/tasks/${hidden.id}`, undefined, by)).toBe('404 task_not_found');
      expect(await as('POST', '/api/tasks', { projectId: other, title: 'x' }, by)).toBe(
        '404 project_not_found',
      );
      expect(await as('GET', `/api/tasks?projectId=${other}`, undefined, by)).toBe('404 project_not_found');
    }
    expect(await as('POST', '/api/threads', { projectId: mine, taskId: hidden.id })).toBe(
      '404 task_not_found',
    );
    expect((await taskNow(hidden.id)).title).toBe('Water');
  });

  test("a request does not lock or wait for another organization's task", async () => {
    const task = await newTask(await newProject());
    const far = await newAccount(s, (await tenant(s)).cookie);
    await s.service.ctx.db.transaction().execute(async (db) => {
      await db.selectFrom('tasks').select('id').where('id', '=', task.id).forUpdate().execute();
      for (const method of ['PATCH', 'DELETE']) {
        const asked = s.call(method, `/api/tasks/${task.id}`, method === 'PATCH' ? {} : undefined, {
          key: far.key,
        });
        expect(await refusal(asked)).toBe('404 task_not_found');
      }
    });
  });

  test('a deleted project has no tasks', async () => {
    const projectId = await newProject();
    const thread = await newThread(projectId, { trackerIssueUrl: issue() });
    await ok(s.call('DELETE', `/api/projects/${projectId}`));
    expect(await refusal(s.call('GET', `/api/tasks/${thread.taskId}`))).toBe('404 task_not_found');
    expect(await refusal(patch(thread.taskId, { title: 'x' }))).toBe('404 task_not_found');
    expect(await listed('')).not.toContain(thread.taskId);
  });
});

test('a repeated key creates one task', async () => {
  const [projectId, idem] = [await newProject(), randomUUID()];
  const body = { projectId, title: 'Once', trackerIssueUrl: issue() };
  const [first, again] = [
    await s.call('POST', '/api/tasks', body, { idem }),
    await s.call('POST', '/api/tasks', body, { idem }),
  ];
  expectStatus(first, 201);
  expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
    201,
    first.text,
    'true',
  ]);
});
