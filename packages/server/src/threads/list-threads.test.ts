import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, tenant } from '../accounts/callers.fixture.ts';
import { newId } from '../ids.ts';
import { record } from '../pull-requests/records.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok } from './threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

/** A separate organization, with its calls. */
async function newCaller() {
  const { cookie } = await tenant(s);
  const { key, account } = await newAccount(s, cookie);
  const call = (method: string, path: string, body?: unknown) => s.call(method, path, body, { key });
  const newProject = async (): Promise<string> =>
    (await ok(call('POST', '/api/projects', { name: 'p' }))).project.id;
  const newThread = async (projectId: string, title?: string, taskId?: string): Promise<string> =>
    (await ok(call('POST', '/api/threads', { projectId, title, taskId }))).thread.id;
  const list = (filters: Record<string, string>) =>
    call('GET', `/api/threads?${new URLSearchParams(filters).toString()}`);
  const found = async (filters: Record<string, string>): Promise<string[]> =>
    (await ok(list(filters))).threads.map(({ id }: { id: string }) => id);
  return { cookie, account, call, newProject, newThread, list, found };
}
type Caller = Awaited<ReturnType<typeof newCaller>>;

describe('200', () => {
  test('by task, by creator, by text in the title, and by all filters together', async () => {
    const { cookie, account, call, newProject, newThread, found } = await newCaller();
    const me = (await s.call('GET', '/api/session', undefined, { cookie })).body.user.id as string;
    const [project, other] = [await newProject(), await newProject()];
    const { task } = await ok(call('POST', '/api/tasks', { projectId: project, title: 'x' }));
    const bySession = async (projectId: string, title: string): Promise<string> =>
      (await ok(s.call('POST', '/api/threads', { projectId, title }, { cookie }))).thread.id;
    const a = await newThread(project, 'Alpha BETA', task.id);
    const b = await newThread(project, '100% beta_test');
    const c = await bySession(project, 'Gamma');
    const d = await bySession(other, 'Delta beta');
    const e = await newThread(other);
    await ok(call('PATCH', `/api/threads/${b}`, { archived: true }));
    const all = [e, d, c, b, a];
    const rows: [Record<string, string>, string[]][] = [
      [{}, all],
      [{ taskId: task.id }, [a]],
      [{ taskId: task.id, createdByUserId: me }, []],
      [{ taskId: newId('task') }, []],
      [{ createdByUserId: me }, [d, c]],
      [{ createdByUserId: account.id }, [e, b, a]],
      [{ createdByAutomation: 'false' }, all],
      [{ createdByAutomation: 'true' }, []],
      [{ automationId: 'aut_01k9x3v5e8f7arh2m4t6w8y0zb' }, []],
      [{ query: 'BeTa' }, [d, b, a]],
      [{ query: 'alpha b' }, [a]],
      [{ query: '%' }, [b]],
      [{ query: '_' }, [b]],
      [{ query: 'beta%' }, []],
      [{ query: '\\' }, []],
      [{ query: 'beta', archived: 'false' }, [d, a]],
      [{ query: 'beta', projectId: project }, [b, a]],
      [{ query: 'beta', createdByUserId: me, projectId: other, archived: 'false' }, [d]],
      [{ query: 'beta', createdByUserId: me, projectId: project }, []],
      [{ createdByUserId: newId('usr') }, []],
      [{ repositoryId: newId('repo') }, []],
      [{ query: 'x'.repeat(200) }, []],
    ];
    for (const [filters, expected] of rows)
      expect(await found(filters), JSON.stringify(filters)).toEqual(expected);
  });

  test('by the automation that made them, and by whether one did', async () => {
    const { call, newProject, newThread, found } = await newCaller();
    const projectId = await newProject();
    const newAutomation = async (): Promise<string> =>
      (
        await ok(
          call('POST', '/api/automations', {
            projectId,
            name: 'n',
            prompt: 'p',
            trigger: { kind: 'webhook' },
          }),
        )
      ).automation.id;
    const [one, two] = [await newAutomation(), await newAutomation()];
    const madeBy = async (automationId: string): Promise<string> => {
      const id = await newThread(projectId);
      await s.service.ctx.db
        .updateTable('threads')
        .set({ automation_id: automationId })
        .where('id', '=', id)
        .execute();
      return id;
    };
    const [a, b, own] = [await madeBy(one), await madeBy(two), await newThread(projectId)];
    expect([
      await found({ automationId: one }),
      await found({ createdByAutomation: 'true' }),
      await found({ createdByAutomation: 'false' }),
      await found({ automationId: one, createdByAutomation: 'true' }),
      await found({ automationId: two, createdByAutomation: 'false' }),
      await found({ automationId: newId('aut') }),
    ]).toEqual([[a], [b, a], [own], [a], [], []]);
    expect((await ok(call('GET', `/api/threads/${a}`))).thread).toMatchObject({
      createdByAutomation: true,
      automationId: one,
    });
  });

  test('by their task', async () => {
    const { call, newProject, newThread, found } = await newCaller();
    const projectId = await newProject();
    const { task } = await ok(call('POST', '/api/tasks', { projectId, title: 't' }));
    const ofTask = async (): Promise<string> =>
      (await ok(call('POST', '/api/threads', { projectId, taskId: task.id }))).thread.id;
    const [a, , c] = [await ofTask(), await newThread(projectId), await ofTask()];
    expect(await found({ taskId: task.id })).toEqual([c, a]);
    expect(await found({ taskId: task.id, archived: 'true' })).toEqual([]);
    expect(await found({ taskId: newId('task') })).toEqual([]);
  });

  test.each([
    ['Äpfel für Łódź', 'ÄPFEL FÜR ŁÓDŹ'],
    ['Straße', 'STRASSE'],
    ['ОШИБКА в отчёте', 'ошибка В ОТЧЁТЕ'],
    ['ΟΔΟΣ', 'οδος'],
    ['𐐀𐐁', '𐐨𐐩'],
  ])('the title %s is found by %s', async (title, query) => {
    const { newProject, newThread, found } = await newCaller();
    const thread = await newThread(await newProject(), title);
    expect(await found({ query })).toEqual([thread]);
  });

  test('by the repository, and by the state of the primary pull request', async () => {
    const caller = await newCaller();
    const states = {
      none: await withStates(caller),
      open: await withStates(caller, 'merged', 'open'),
      /** The open one is primary, even though it is not the newest. */
      older: await withStates(caller, 'open', 'closed'),
      closed: await withStates(caller, 'merged', 'closed'),
      merged: await withStates(caller, 'closed', 'merged'),
    };
    for (const { thread } of Object.values(states)) {
      const shown = (await ok(caller.call('GET', `/api/threads/${thread}`))).thread;
      const state = shown.primaryPullRequest?.state;
      for (const pullRequestState of ['open', 'closed', 'merged'])
        expect((await caller.found({ pullRequestState })).includes(thread)).toBe(pullRequestState === state);
    }
    expect(await caller.found({ pullRequestState: 'open' })).toEqual([
      states.older.thread,
      states.open.thread,
    ]);
    const { thread, repositoryId } = states.merged;
    expect(await caller.found({ repositoryId })).toEqual([thread]);
    expect(await caller.found({ repositoryId, pullRequestState: 'closed' })).toEqual([]);
  });

  test('an open one that was transferred to another thread is primary if no other one is open', async () => {
    const caller = await newCaller();
    const { thread } = await withStates(caller);
    await record(s.service.ctx, thread, { transferred_at: new Date() });
    await record(s.service.ctx, thread, { number: 8, state: 'merged' });
    expect(await caller.found({ pullRequestState: 'open' })).toEqual([thread]);
    expect(await caller.found({ pullRequestState: 'merged' })).toEqual([]);
  });

  test('a restricted key sees only the threads of its projects, whatever the filters', async () => {
    const caller = await newCaller();
    const { thread, project, repositoryId } = await withStates(caller, 'open');
    const { thread: hidden, repositoryId: other } = await withStates(caller, 'open');
    const { key } = await newAccount(s, caller.cookie, { projectIds: [project] });
    const found = async (query: string) =>
      (await ok(s.call('GET', `/api/threads?${query}`, undefined, { key }))).threads.map(
        ({ id }: { id: string }) => id,
      );
    expect(hidden).not.toBe(thread);
    for (const query of ['', 'pullRequestState=open', 'query=t', `repositoryId=${repositoryId}`])
      expect(await found(query), query).toEqual([thread]);
    expect(await found(`repositoryId=${other}`)).toEqual([]);
  });
});

/** A thread in its own project, with pull requests of these states, oldest first. */
async function withStates(caller: Caller, ...states: ('open' | 'closed' | 'merged')[]) {
  const project = await caller.newProject();
  const thread = await caller.newThread(project, 't');
  for (const [number, state] of states.entries())
    await record(s.service.ctx, thread, { number: number + 1, state });
  const { repository_id: repositoryId } = await s.service.ctx.db
    .selectFrom('projects')
    .select('repository_id')
    .where('id', '=', project)
    .executeTakeFirstOrThrow();
  return { thread, project, repositoryId: repositoryId ?? '' };
}

describe('400', () => {
  test.each([
    ['query=', '/query/query'],
    [`query=${'x'.repeat(201)}`, '/query/query'],
    ['query=%00', '/query/query'],
    ['createdByAutomation=yes', '/query/createdByAutomation'],
    ['createdByAutomation=1', '/query/createdByAutomation'],
    ['archived=maybe', '/query/archived'],
    ['pullRequestState=draft', '/query/pullRequestState'],
    ['pullRequestState=', '/query/pullRequestState'],
    ['repositoryId=', '/query/repositoryId'],
    ['taskId=', '/query/taskId'],
    ['automationId=', '/query/automationId'],
    ['createdByUserId=', '/query/createdByUserId'],
    ['tasks=x', '/query/tasks'],
  ])('%s', async (query, path) => {
    const { status, body } = await s.call('GET', `/api/threads?${query}`);
    expect([status, body.error.fields]).toMatchObject([400, [{ path }]]);
  });

  test('a cursor is valid only with its filters, in any order', async () => {
    const { newProject, newThread, list } = await newCaller();
    const projectId = await newProject();
    for (let i = 0; i < 3; i++) await newThread(projectId, `Paged ${i}`);
    const cursor = (await ok(list({ query: 'paged', projectId, limit: '1' }))).nextCursor as string;
    const rest = await ok(list({ projectId, cursor, query: 'paged', limit: '5' }));
    expect(rest.threads).toHaveLength(2);
    for (const filters of [{ query: 'Paged', projectId }, { query: 'paged' }, { projectId }, {}])
      expect((await list({ ...(filters as Record<string, string>), cursor })).body.error.code).toBe(
        'invalid_cursor',
      );
  });
});

test('404 for an unknown project, whatever the other filters', async () => {
  for (const more of ['', '&query=beta', '&automationId=aut_x'])
    expect((await s.call('GET', `/api/threads?projectId=${newId('prj')}${more}`)).body.error.code).toBe(
      'project_not_found',
    );
});
