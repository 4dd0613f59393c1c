import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { READ_FOR_A_PAGE } from '../db/search.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, ok, P, refusal } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

const LISTS = ['applies', 'builds', 'previews', 'threads'] as const;
type List = (typeof LISTS)[number];
/** What each list's rows are at first here, where no worker is. */
const AT_FIRST = { applies: 'queued', builds: 'queued', previews: 'starting', threads: 'queued' } as const;

interface Caller {
  cookie: string;
  orgId: string;
  key: string;
  call: (method: string, path: string, body?: unknown) => ReturnType<TestServer['call']>;
}

async function newCaller(): Promise<Caller> {
  const { cookie, organization } = await tenant(s);
  const { key } = await newAccount(s, cookie);
  return {
    cookie,
    orgId: organization.id,
    key,
    call: (method, path, body) => s.call(method, path, body, { key }),
  };
}

const idsOf = async (answer: ReturnType<TestServer['call']>, list: List): Promise<string[]> =>
  (await ok(answer))[list].map(({ id }: { id: string }) => id);

/** All ids of a list, page by page. */
async function pagesOf(caller: Pick<Caller, 'call'>, list: List, query: Record<string, string>) {
  const found: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const asked = new URLSearchParams({ ...query, ...(cursor && { cursor }) }).toString();
    const answer: { nextCursor: string | null; hasMore: boolean } & Record<List, { id: string }[]> = await ok(
      caller.call('GET', `${P}/${list}?${asked}`),
    );
    expect(answer.hasMore).toBe(answer.nextCursor !== null);
    found.push(...answer[list].map(({ id }) => id));
    cursor = answer.nextCursor;
  }
  return { found, pages };
}

interface Made {
  appId: string;
  ids: Record<List, string>;
}

async function newApply({ key }: Caller, thread: string, expectedSourceId: string): Promise<string> {
  const idem = randomUUID();
  const body = { expectedSourceId, clientOperationId: idem };
  return (await ok(s.call('POST', `${thread}/apply`, body, { key, idem }))).apply.id;
}

/** An app with one of each: a thread for each that occupies its thread. */
async function newMade(caller: Caller): Promise<Made> {
  const { call, key } = caller;
  const { appId, at } = await newApp(
    { ...s, call: (method, path, body) => s.call(method, path, body, { key }) },
    { a: 'a' },
  );
  const newThread = async (): Promise<{ id: string; sourceId: string }> =>
    (await ok(call('POST', `${at}/threads`, {}))).thread;
  const [applied, built, shown] = [await newThread(), await newThread(), await newThread()];
  const { source } = await ok(
    call('POST', `${at}/threads/${applied.id}/edits`, {
      expectedSourceId: applied.sourceId,
      changes: [{ path: 'b', content: 'b' }],
    }),
  );
  const made = async (path: string, body: object) => ok(call('POST', `${at}/threads/${path}`, body));
  const ids = {
    applies: await newApply(caller, `${at}/threads/${applied.id}`, source.id),
    builds: (await made(`${built.id}/builds`, { command: 'true', outputDirectory: '.' })).build.id,
    previews: (await made(`${shown.id}/previews`, { command: 'true', port: 3000 })).preview.id,
    threads: shown.id,
  };
  return { appId, ids };
}

const setStatus = (list: List, id: string, status: string) =>
  sql`update ${sql.table(list)} set status = ${status} where id = ${id}`.execute(s.service.ctx.db);

describe('200', () => {
  let caller: Caller;
  let one: Made;
  let two: Made;
  beforeAll(async () => {
    caller = await newCaller();
    [one, two] = [await newMade(caller), await newMade(caller)];
  });

  test.each(LISTS)('%s of all apps, newest first, as their app shows them', async (list) => {
    const { found, pages } = await pagesOf(caller, list, { limit: '1' });
    expect(found).toEqual([...found].sort().reverse());
    expect(found).toEqual(expect.arrayContaining([one.ids[list], two.ids[list]]));
    expect(pages).toBe(found.length);
    const { [list]: shown } = await ok(caller.call('GET', `${P}/${list}?appId=${one.appId}`));
    const path =
      list === 'applies' || list === 'threads'
        ? `/${list}`
        : `/threads/${shown[0].threadId as string}/${list}`;
    expect(shown).toEqual((await ok(caller.call('GET', `${P}/apps/${one.appId}${path}`)))[list]);
  });

  test.each([
    ['applies', 'conflicted', 'applied'],
    ['builds', 'failed', 'ready'],
    ['previews', 'stopped', 'failed'],
    ['threads', 'blocked', 'ready'],
  ] as const)('%s of several statuses are one list', async (list, status, none) => {
    await setStatus(list, two.ids[list], status);
    const of = async (statuses: string, more = '') =>
      idsOf(caller.call('GET', `${P}/${list}?status=${statuses}${more}`), list);
    const first = AT_FIRST[list];
    // Applies and builds block their threads.
    const changed =
      list === 'threads' ? (await of(status)).filter((id) => id === two.ids.threads) : await of(status);
    expect(changed).toEqual([two.ids[list]]);
    expect(await of(none)).toEqual([]);
    const all = (await pagesOf(caller, list, {})).found;
    expect(await of([first, status, none, 'failed'].join(','))).toEqual(all);
    expect(
      (await pagesOf(caller, list, { status: `${status},${first},${first}`, limit: '1' })).found,
    ).toEqual(all);
    expect(await of(`${first},${status}`, `&appId=${two.appId}`)).toEqual(
      await of([...new Set([status, first, 'failed'])].join(','), `&appId=${two.appId}`),
    );
  });

  test.each(LISTS)(
    "a restricted key's %s are those of its apps; its other ids are nothing's",
    async (list) => {
      const other = await newMade(await newCaller());
      const projectIds = [one.appId, other.appId, newId('prj'), 'x'];
      const { key } = await newAccount(s, caller.cookie, { projectIds });
      const call = (path: string) => s.call('GET', `${P}/${list}${path}`, undefined, { key });
      const expected = await idsOf(caller.call('GET', `${P}/${list}?appId=${one.appId}`), list);
      expect(await idsOf(call(''), list)).toEqual(expected);
      expect(await idsOf(call(`?appId=${one.appId}`), list)).toEqual(expected);
      for (const appId of [two.appId, newId('prj')])
        expect(await refusal(call(`?appId=${appId}`))).toBe('403 forbidden');
      expect(await refusal(call(`?appId=${other.appId}`))).toBe('404 app_not_found');
      const { key: of } = await newAccount(s, caller.cookie, { projectIds: [newId('prj')] });
      expect(await idsOf(s.call('GET', `${P}/${list}`, undefined, { key: of }), list)).toEqual([]);
    },
  );

  test.each(LISTS)('%s: a cursor is bound to its list, filters and sort', async (list) => {
    const { nextCursor } = await ok(
      caller.call('GET', `${P}/${list}?limit=1&status=${AT_FIRST[list]},failed`),
    );
    const cursor = encodeURIComponent(
      nextCursor ?? (await ok(caller.call('GET', `${P}/${list}?limit=1`))).nextCursor,
    );
    const wrong = [
      ...LISTS.filter((other) => other !== list),
      `${list}?appId=${one.appId}`,
      `${list}?status=failed`,
    ];
    for (const path of wrong)
      expect(
        await refusal(caller.call('GET', `${P}/${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`)),
      ).toBe('400 invalid_cursor');
  });
});

describe('what is not listed', () => {
  test("a Direct project's, and from its deletion on an app's, whatever their status", async () => {
    const caller = await newCaller();
    const { project } = await ok(caller.call('POST', '/api/projects', { name: 'Direct' }));
    const { source } = await ok(
      caller.call('POST', `/api/projects/${project.id}/sources`, { files: [{ path: 'a', content: 'a' }] }),
    );
    await ok(
      caller.call('POST', `/api/projects/${project.id}/source-head/initialize`, { sourceId: source.id }),
    );
    const { thread } = await ok(caller.call('POST', '/api/threads', { projectId: project.id }));
    await ok(caller.call('POST', `/api/threads/${thread.id}/previews`, { command: 'true', port: 3000 }));
    await ok(
      caller.call('POST', `/api/threads/${thread.id}/builds`, { command: 'true', outputDirectory: '.' }),
    );
    const { thread: second } = await ok(caller.call('POST', '/api/threads', { projectId: project.id }));
    await newApply(caller, `/api/threads/${second.id}`, source.id);
    for (const list of LISTS) {
      expect(await idsOf(caller.call('GET', `${P}/${list}`), list)).toEqual([]);
      expect(await refusal(caller.call('GET', `${P}/${list}?appId=${project.id}`))).toBe('404 app_not_found');
    }
    const [gone, kept] = [await newMade(caller), await newMade(caller)];
    await ok(caller.call('DELETE', `${P}/apps/${gone.appId}`));
    for (const list of LISTS) {
      const { [list]: left } = await ok(caller.call('GET', `${P}/${list}`));
      expect(left.length).toBeGreaterThan(0);
      expect(left.map(({ projectId }: { projectId: string }) => projectId)).toEqual(
        left.map(() => kept.appId),
      );
      expect(await refusal(caller.call('GET', `${P}/${list}?appId=${gone.appId}`))).toBe('404 app_not_found');
    }
  });

  test('a deleted thread is not; its applies and builds are', async () => {
    const caller = await newCaller();
    const { appId, ids } = await newMade(caller);
    const { threadId } = (await ok(caller.call('GET', `${P}/applies`))).applies[0];
    await ok(caller.call('DELETE', `${P}/apps/${appId}/threads/${threadId}`));
    expect(await idsOf(caller.call('GET', `${P}/threads`), 'threads')).not.toContain(threadId);
    expect(await idsOf(caller.call('GET', `${P}/applies`), 'applies')).toEqual([ids.applies]);
  });
});

describe('threads', () => {
  test('by activity: by updatedAt and id, page by page, of several statuses', async () => {
    const caller = await newCaller();
    const { at } = await newApp(
      { ...s, call: (m, path, body) => s.call(m, path, body, { key: caller.key }) },
      { a: 'a' },
    );
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await ok(caller.call('POST', `${at}/threads`, {}))).thread.id);
    const [a, b, c, d, e] = made as [string, string, string, string, string];
    const touch = (id: string, time: string, status: string) =>
      sql`update threads set updated_at = ${time}, status = ${status} where id = ${id}`.execute(
        s.service.ctx.db,
      );
    await touch(a, '2026-01-05T00:00:00.001Z', 'ready');
    await touch(b, '2026-01-01T00:00:00Z', 'failed');
    // At the same moment the newer one is first.
    await touch(c, '2026-01-03T00:00:00.123Z', 'ready');
    await touch(d, '2026-01-03T00:00:00.123Z', 'failed');
    await touch(e, '2026-01-02T00:00:00Z', 'archived');
    const order = [a, d, c, e, b];
    for (const limit of ['1', '2', '50'])
      expect((await pagesOf(caller, 'threads', { sort: 'activity', limit })).found).toEqual(order);
    expect(
      (await pagesOf(caller, 'threads', { sort: 'activity', status: 'ready,archived', limit: '1' })).found,
    ).toEqual([a, c, e]);
    const { nextCursor } = await ok(caller.call('GET', `${P}/threads?sort=activity&limit=1`));
    expect(await refusal(caller.call('GET', `${P}/threads?limit=1&cursor=${nextCursor}`))).toBe(
      '400 invalid_cursor',
    );
    const { nextCursor: byId } = await ok(caller.call('GET', `${P}/threads?limit=1`));
    expect(await refusal(caller.call('GET', `${P}/threads?sort=activity&cursor=${byId}`))).toBe(
      '400 invalid_cursor',
    );
  });
});

describe('searches', () => {
  test.each(['%', '_', '\\', '*', '.', '[a]', "'", 'É', 'straße'])(
    '%s is itself only, in any case',
    async (part) => {
      const caller = await newCaller();
      const name = `A ${part.toUpperCase()} b`;
      const { app } = await ok(caller.call('POST', `${P}/apps`, { name }));
      await ok(caller.call('POST', `${P}/apps`, { name: 'a x b' }));
      const { apps } = await ok(
        caller.call('GET', `${P}/apps?query=${encodeURIComponent(part.toLowerCase())}`),
      );
      expect(apps.map(({ id }: { id: string }) => id)).toEqual([app.id]);
    },
  );

  test('a cursor is bound to its search, of apps and of threads', async () => {
    const caller = await newCaller();
    const { appId } = await newMade(caller);
    await ok(caller.call('POST', `${P}/apps`, { name: 'Garden too' }));
    for (const title of ['Find me', 'find ME too'])
      await ok(caller.call('POST', `${P}/apps/${appId}/threads`, { title }));
    for (const [path, query] of [
      [`${P}/apps`, 'garden'],
      [`${P}/threads`, 'find'],
      [`${P}/apps/${appId}/threads`, 'find'],
    ] as const) {
      const { nextCursor } = await ok(caller.call('GET', `${path}?limit=1&query=${query}`));
      const at = (more: string) => caller.call('GET', `${path}?limit=1&cursor=${nextCursor}${more}`);
      expect(expectStatus(await at(`&query=${query}`), 200).body.hasMore).toBe(false);
      expect(await refusal(at(`&query=${query}x`))).toBe('400 invalid_cursor');
      expect(await refusal(at(''))).toBe('400 invalid_cursor');
      for (const wrong of ['', 'x'.repeat(201), '%00'])
        expect(await refusal(caller.call('GET', `${path}?query=${wrong}`))).toBe(
          '400 invalid_request /query/query',
        );
    }
  });

  test.each([
    ['/threads', 'threads'],
    ['/threads?sort=activity', 'threads'],
    ['/apps', 'apps'],
  ] as const)('%s: a page reads a part of a long list, and all pages find each once', async (path, name) => {
    const caller = await newCaller();
    const { app } = await ok(caller.call('POST', `${P}/apps`, { name: 'x' }));
    const rare = `needle ${newId('thr')}`;
    const rows = 2 * READ_FOR_A_PAGE + 500;
    const title = sql`case when n % 4999 = 3 then ${rare} else 'hay ' || n end`;
    const id = (prefix: string) => sql`${`${prefix}_${newId('thr').slice(4, 14)}`} || lpad(n::text, 16, '0')`;
    await (
      name === 'apps'
        ? sql`insert into projects (org_id, id, kind, name) select ${caller.orgId}, ${id('prj')}, 'platform', ${title} from generate_series(1, ${rows}::int) n`
        : sql`insert into threads (org_id, id, project_id, listed, title, status, initialization_state, created_by, updated_at)
            select ${caller.orgId}, ${id('thr')}, ${app.id}, true, ${title}, case n % 2 when 0 then 'ready' else 'archived' end, 'completed', 'x', now() - n * interval '1 second'
            from generate_series(1, ${rows}::int) n`
    ).execute(s.service.ctx.db);
    const found: string[] = [];
    let [pages, empty] = [0, 0];
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const asked = new URLSearchParams({
        query: rare.toUpperCase(),
        limit: '2',
        ...(cursor && { cursor }),
      }).toString();
      const answer = await ok(caller.call('GET', `${P}${path}${path.includes('?') ? '&' : '?'}${asked}`));
      found.push(...answer[name].map((one: { id: string }) => one.id));
      if (answer[name].length === 0) empty++;
      cursor = answer.nextCursor;
    }
    expect([found.length, new Set(found).size]).toEqual([3, 3]);
    expect(pages).toBeGreaterThanOrEqual(2);
    expect(pages).toBeLessThanOrEqual(5);
    expect(empty).toBeLessThan(pages);
  });
});

test.each([
  ...LISTS.flatMap((list) => [
    [`${list}?status=`, '/query/status'],
    [`${list}?status=nonsense`, '/query/status'],
    [`${list}?status=failed,nonsense`, '/query/status'],
    [`${list}?status=failed,`, '/query/status'],
    [`${list}?appId=`, '/query/appId'],
    [`${list}?query=`, '/query/query'],
    [`${list}?sort=name`, '/query/sort'],
  ]),
  ['builds?sort=activity', '/query/sort'],
  ['builds?query=x', '/query/query'],
  ['threads?status=conflicted', '/query/status'],
])('400: %s', async (path, field) => {
  expect(await refusal(s.call('GET', `${P}/${path}`))).toBe(`400 invalid_request ${field}`);
});
