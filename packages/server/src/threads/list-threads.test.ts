import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, tenant } from '../accounts/callers.fixture.ts';
import { scopeHash, sealCursor } from '../http/cursors.ts';
import { newId } from '../ids.ts';
import { record } from '../pull-requests/records.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, ok, refusal } from './threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

/** A separate organization, with its calls. */
async function newCaller() {
  const { cookie, organization } = await tenant(s);
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
  return { cookie, organization, account, call, newProject, newThread, list, found };
}
type Caller = Awaited<ReturnType<typeof newCaller>>;

const touch = (id: string, time: string, status: string) =>
  sql`update threads set updated_at = ${time}, status = ${status} where id = ${id}`.execute(s.service.ctx.db);

/** The ids of all pages of one thread each. */
async function pagesOf({ list }: Caller, filters: Record<string, string>): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const body = await ok(list({ ...filters, limit: '1', ...(cursor && { cursor }) }));
    found.push(...body.threads.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
  }
  return found;
}

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

  test('by several statuses, and by activity: of apps and Direct projects in one list', async () => {
    const caller = await newCaller();
    const { cookie, call, newProject, newThread, found } = caller;
    const me = (await s.call('GET', '/api/session', undefined, { cookie })).body.user.id as string;
    const project = await newProject();
    const { appId } = await newApp({ ...s, call }, { a: 'a' });
    const a = await newThread(project, 'Alpha');
    const b = await newThread(appId, 'Beta');
    const c = (await ok(s.call('POST', '/api/threads', { projectId: project, title: 'Gamma' }, { cookie })))
      .thread.id as string;
    const d = await newThread(appId, 'Delta');
    const e = await newThread(project, 'Epsilon');
    await touch(a, '2026-01-05T00:00:00.001Z', 'waiting');
    await touch(b, '2026-01-03T00:00:00.123Z', 'failed');
    // At the same moment the newer one is first.
    await touch(c, '2026-01-03T00:00:00.123Z', 'waiting');
    await touch(d, '2026-01-01T00:00:00Z', 'waiting');
    await touch(e, '2026-01-02T00:00:00Z', 'ready');
    const { key } = await newAccount(s, cookie, { projectIds: [project, newId('prj')] });
    const rows: [Record<string, string>, string[]][] = [
      [{ sort: 'activity' }, [a, c, b, e, d]],
      [{ status: 'waiting' }, [d, c, a]],
      [{ status: 'ready,waiting' }, [e, d, c, a]],
      [{ status: 'failed,waiting,failed' }, [d, c, b, a]],
      [{ status: 'queued,archived' }, []],
      [{ status: 'waiting,failed', sort: 'activity' }, [a, c, b, d]],
      [{ status: 'waiting', sort: 'activity', projectId: appId }, [d]],
      [{ status: 'waiting,ready', projectId: project }, [e, c, a]],
      [{ sort: 'activity', createdByUserId: me }, [c]],
      [{ status: 'waiting,failed', createdByUserId: me }, [c]],
      [{ status: 'failed', createdByUserId: me }, []],
      [{ sort: 'activity', repositoryId: newId('repo') }, []],
      [{ sort: 'activity', createdByAutomation: 'false' }, [a, c, b, e, d]],
      [{ sort: 'activity', taskId: newId('task') }, []],
      [{ sort: 'activity', pullRequestState: 'open' }, []],
      [{ sort: 'activity', archived: 'false' }, [a, c, b, e, d]],
      [{ sort: 'activity', archived: 'true' }, []],
      [{ status: 'waiting', archived: 'true' }, []],
      [{ sort: 'activity', query: 'ta' }, [b, d]],
      [{ status: 'waiting,ready', query: 'l' }, [e, d, a]],
    ];
    for (const [filters, expected] of rows) {
      expect(await found(filters), JSON.stringify(filters)).toEqual(expected);
      expect(await pagesOf(caller, filters), JSON.stringify(filters)).toEqual(expected);
      const ofKey = await ok(
        s.call('GET', `/api/threads?${new URLSearchParams(filters).toString()}`, undefined, { key }),
      ).catch(() => null);
      const seen = ofKey?.threads.map(({ id }: { id: string }) => id) ?? [];
      expect(seen).toEqual(
        filters.projectId === appId ? [] : expected.filter((id) => [a, c, e].includes(id)),
      );
    }
    await ok(call('DELETE', `/api/projects/${project}`));
    expect(await found({ sort: 'activity' })).toEqual([b, d]);
    expect(await found({ status: 'waiting,ready' })).toEqual([d]);
  });

  test('a cursor is bound to the sort and the statuses, in whatever order they are named', async () => {
    const { newProject, newThread, list } = await newCaller();
    const project = await newProject();
    for (let i = 0; i < 3; i++) await newThread(project);
    const next = async (filters: Record<string, string>) =>
      (await ok(list({ ...filters, limit: '1' }))).nextCursor as string;
    const cursor = await next({ status: 'queued,failed', sort: 'activity' });
    expect((await ok(list({ status: 'failed,queued', sort: 'activity', cursor }))).threads).toHaveLength(2);
    for (const filters of [
      {},
      { sort: 'activity' },
      { status: 'queued,failed' },
      { status: 'queued', sort: 'activity' },
      { status: 'queued,failed', sort: 'activity', projectId: project },
    ] as Record<string, string>[])
      expect(await refusal(list({ ...filters, cursor }))).toBe('400 invalid_cursor');
    expect(await refusal(list({ sort: 'activity', cursor: await next({}) }))).toBe('400 invalid_cursor');
  });

  test('a cursor of version 0.1.0 goes on: it knew no sort, and one status', async () => {
    const { organization, newProject, newThread, list } = await newCaller();
    const project = await newProject();
    const [a, b] = [await newThread(project), await newThread(project)];
    for (const status of [undefined, 'queued']) {
      const chosen = [...Array(6).fill(null), status ?? null, null, null, null];
      const scope = scopeHash('all threads', organization.id, ...chosen);
      const cursor = sealCursor(s.service.ctx.secretKey, [scope, b]);
      const { threads } = await ok(list({ cursor, ...(status && { status }) }));
      expect(threads.map(({ id }: { id: string }) => id)).toEqual([a]);
    }
  });

  test('by activity, a filter that few match reads a part of the list for a page', async () => {
    const { call, newProject, newThread, list } = await newCaller();
    const project = await newProject();
    const { task } = await ok(call('POST', '/api/tasks', { projectId: project, title: 't' }));
    const last = await newThread(project, 't', task.id);
    await touch(last, '2026-01-01T00:00:00Z', 'waiting');
    await sql`insert into threads (id, org_id, project_id, listed, status, initialization_state, title, created_by)
      select 'thr_0' || lpad(n::text, 25, '0'), org_id, project_id, listed, 'waiting', 'completed', 'Title', 'x'
      from threads cross join generate_series(1, 5000) n where id = ${last}`.execute(s.service.ctx.db);
    for (const query of [{}, { query: 't' }] as Record<string, string>[]) {
      const filter = { sort: 'activity', taskId: task.id as string, ...query };
      const first = await ok(list(filter));
      expect(first).toMatchObject({ threads: [], hasMore: true });
      const { threads, hasMore } = await ok(list({ ...filter, cursor: first.nextCursor }));
      expect([threads.map(({ id }: { id: string }) => id), hasMore]).toEqual([[last], false]);
    }
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
    ['status=', '/query/status'],
    ['status=nonsense', '/query/status'],
    ['status=failed,nonsense', '/query/status'],
    ['status=failed,', '/query/status'],
    ['sort=name', '/query/sort'],
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
