import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, newBench, ok, P, refusal, sh, until } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const allEvents = async (appId: string) =>
  (await ok(s.call('GET', `${P}/events?limit=500`))).events.filter(
    (e: { appId: string }) => e.appId === appId,
  );

describe('apps', () => {
  test('create, change, delete: versions, and each change published once with identities only', async () => {
    const externalId = randomUUID();
    const { app } = await ok(
      s.call('POST', `${P}/apps`, { name: 'Secret name', externalId, metadata: { team: 'secret' } }),
    );
    expect(app).toMatchObject({
      id: app.projectId,
      externalId,
      version: 1,
      headSourceId: null,
      headRevision: null,
      deletedAt: null,
    });
    const at = `${P}/apps/${app.id as string}`;
    for (const same of [
      {},
      { name: 'Secret name' },
      { externalId },
      { metadata: { team: 'secret' } },
      { expectedVersion: 1 },
    ])
      expect((await ok(s.call('PATCH', at, same))).app.version).toBe(1);
    const changed = (await ok(s.call('PATCH', at, { externalId: null, expectedVersion: 1 }))).app;
    expect(changed).toMatchObject({ version: 2, externalId: null, name: 'Secret name' });
    const stale = await s.call('PATCH', at, { name: 'x', expectedVersion: 1 });
    expect([stale.status, stale.body.error.code, stale.body.error.current]).toEqual([
      409,
      'version_conflict',
      { version: 2 },
    ]);
    const deleted = (await ok(s.call('DELETE', at))).app;
    const events = await until('the deletion', async () => {
      const list = await allEvents(app.id);
      return list.some((e: { type: string }) => e.type === 'platform.app.deleted') && list;
    });
    const data = (a: Record<string, unknown>) => ({
      id: a.id,
      externalId: a.externalId,
      createdAt: a.createdAt,
      updatedAt: a.updatedAt,
    });
    expect(events.map((e: { type: string; data: object }) => [e.type, e.data])).toEqual([
      ['platform.app.created', data(app)],
      ['platform.app.updated', data(changed)],
      ['platform.app.deleted', data(deleted)],
    ]);
    expect(await refusal(s.call('GET', at))).toBe('404 app_not_found');
  });

  test("an externalId is one app's, found by it, and free again when cleared or deleted", async () => {
    const externalId = randomUUID();
    const { at, appId } = await newApp(s, null, { externalId });
    expect(await refusal(s.call('POST', `${P}/apps`, { name: 'x', externalId }))).toBe(
      '409 external_id_taken',
    );
    expect(
      (await ok(s.call('GET', `${P}/apps?externalId=${externalId}`))).apps.map((a: { id: string }) => a.id),
    ).toEqual([appId]);
    await ok(s.call('DELETE', at));
    const next = await newApp(s, null, { externalId });
    await ok(s.call('PATCH', next.at, { externalId: null }));
    await newApp(s, null, { externalId });
  });

  test("another tenant's, a restricted key's, and both forms of the path", async () => {
    const { at, appId } = await newApp(s, null);
    const { key: foreign } = await newAccount(s, (await tenant(s)).cookie);
    for (const form of [at, at.replace('/apps/', '/projects/')]) {
      expect(await refusal(s.call('GET', form, undefined, { key: foreign }))).toBe('404 app_not_found');
      expect((await ok(s.call('GET', form))).app.id).toBe(appId);
    }
    const { key } = await newAccount(s, await signedIn(s), { projectIds: [appId] });
    expect(
      (await ok(s.call('GET', `${P}/apps`, undefined, { key }))).apps.map((a: { id: string }) => a.id),
    ).toEqual([appId]);
    expect(await refusal(s.call('POST', `${P}/apps`, { name: 'x' }, { key }))).toBe('403 forbidden');
    expect(await refusal(s.call('POST', '/api/projects', { name: 'x' }, { key }))).toBe('401 unauthorized');
  });
});

describe('deleting an app', () => {
  test('ends its work in that transaction, `deleted` last; its threads and workspaces go', async () => {
    const b = await newBench(s);
    const { run } = await b.send(sh('sleep 60'));
    await b.working(run.id);
    await b.send('later');
    const second = (await ok(s.call('POST', `${b.app}/threads`, {}))).thread.id as string;
    const earlier = (await ok(s.call('POST', `${b.app}/threads`, {}))).thread.id as string;
    await ok(s.call('DELETE', `${b.app}/threads/${earlier}`));
    await until(
      'the second thread',
      async () => (await ok(s.call('GET', `${b.app}/threads/${second}`))).thread.status === 'ready',
    );
    // Events are published a moment after the answer.
    const before = await until('both runs on the feed', async () => {
      const list = await allEvents(b.appId);
      const has = (type: string) => list.filter((e: { type: string }) => e.type === type).length;
      return has('run.queued') === 2 && has('thread.deleted') === 1 && list.length;
    });
    await ok(s.call('DELETE', b.app));
    const events = await until('the deletion', async () => {
      const list = await allEvents(b.appId);
      return list.some((e: { type: string }) => e.type === 'platform.app.deleted') && list;
    });
    const ended = events.slice(before).filter((e: { type: string }) => !e.type.startsWith('workspace.'));
    expect(ended.map((e: { type: string }) => e.type)).toEqual([
      'tool.updated',
      'message.persisted',
      'run.cancelled',
      'run.cancelled',
      'thread.deleted',
      'thread.deleted',
      'platform.app.deleted',
    ]);
    expect(ended.slice(4, 6).map((e: { threadId: string }) => e.threadId)).toEqual([b.threadId, second]);
    expect(await refusal(s.call('GET', `/api/threads/${b.threadId}`))).toBe('404 thread_not_found');
    await until('the workspace to go', async () => !(await s.service.ctx.runner.workspaceExists(b.threadId)));
  });

  test("409 build_busy while a build's sandbox lives, with nothing changed", async () => {
    const b = await newBench(s);
    const { build } = await ok(
      s.call('POST', `${b.at}/builds`, { command: 'sleep 60', outputDirectory: '.' }),
    );
    await until(
      'the build',
      async () => (await ok(s.call('GET', `${b.app}/builds/${build.id}`))).build.status === 'building',
    );
    const idem = randomUUID();
    expect(await refusal(s.call('DELETE', b.app, undefined, { idem }))).toBe('409 build_busy');
    expect((await b.thread()).status).toBe('blocked');
    await ok(s.call('POST', `${b.app}/builds/${build.id}/cancel`, {}));
    await until(
      'its end',
      async () => (await ok(s.call('GET', `${b.app}/builds/${build.id}`))).build.status === 'failed',
    );
    expect((await s.call('DELETE', b.app, undefined, { idem })).status).toBe(200);
  });
});

describe('head', () => {
  test('is initialized once, by any source of the app; its history is oldest first', async () => {
    const { at } = await newApp(s, null);
    const other = await newApp(s);
    expect(await refusal(s.call('GET', `${at}/source-head`))).toBe('409 head_not_initialized');
    expect((await ok(s.call('GET', `${at}/source-head/history`))).heads).toEqual([]);
    const { source } = await ok(s.call('POST', `${at}/sources`, { files: [] }));
    expect(await refusal(s.call('POST', `${at}/source-head/initialize`, { sourceId: other.sourceId }))).toBe(
      '404 source_not_found',
    );
    const { head } = await ok(s.call('POST', `${at}/source-head/initialize`, { sourceId: source.id }));
    expect(head).toMatchObject({ sourceId: source.id, revision: 1 });
    expect(await refusal(s.call('POST', `${at}/source-head/initialize`, { sourceId: source.id }))).toBe(
      '409 head_already_initialized',
    );
    expect((await ok(s.call('GET', `${at}/source-head/history`))).heads).toEqual([
      { ...head, applyId: null },
    ]);
    expect((await ok(s.call('GET', at))).app).toMatchObject({ headSourceId: source.id, headRevision: 1 });
  });

  test('its history is listed in both orders, page by page', async () => {
    const { at, appId } = await newApp(s);
    const { db } = s.service.ctx;
    const first = await db
      .selectFrom('head_history')
      .selectAll()
      .where('project_id', '=', appId)
      .executeTakeFirstOrThrow();
    await db
      .insertInto('head_history')
      .values([2, 3, 4, 5].map((revision) => ({ ...first, revision })))
      .execute();
    const revisions = async (order: string) => {
      const all: number[] = [];
      for (let cursor = ''; ;) {
        const page = await ok(s.call('GET', `${at}/source-head/history?limit=2&order=${order}${cursor}`));
        all.push(...page.heads.map((head: { revision: number }) => head.revision));
        if (page.nextCursor === null) return all;
        cursor = `&cursor=${page.nextCursor}`;
      }
    };
    expect(await revisions('asc')).toEqual([1, 2, 3, 4, 5]);
    expect(await revisions('desc')).toEqual([5, 4, 3, 2, 1]);
  });
});

describe('Direct projects', () => {
  test('are created, changed, listed by kind and deleted', async () => {
    const { project } = await ok(
      s.call('POST', '/api/projects', { name: 'Direct', defaultBranch: 'main', metadata: { a: '1' } }),
    );
    expect(project).toMatchObject({
      kind: 'direct',
      repositoryId: null,
      defaultBranch: 'main',
      repoFullName: null,
      headCommitSha: null,
      metadata: { a: '1' },
      version: 1,
    });
    expect(
      (await ok(s.call('PATCH', `/api/projects/${project.id}`, { metadata: { a: '1' } }))).project.version,
    ).toBe(1);
    expect(
      (await ok(s.call('PATCH', `/api/projects/${project.id}`, { name: 'New', expectedVersion: 1 }))).project,
    ).toMatchObject({ name: 'New', version: 2 });
    expect(
      (await ok(s.call('GET', '/api/projects?kind=direct'))).projects.map((p: { kind: string }) => p.kind),
    ).toEqual(['direct']);
    expect(await refusal(s.call('GET', `${P}/apps/${project.id as string}`))).toBe('404 app_not_found');
    const { thread } = await ok(s.call('POST', '/api/threads', { projectId: project.id }));
    expect(thread).toMatchObject({ sourceId: null, latestSourceId: null });
    expect((await ok(s.call('DELETE', `/api/projects/${project.id}`))).project.deletedAt).not.toBe(null);
    expect(await refusal(s.call('GET', `/api/threads/${thread.id}`))).toBe('404 thread_not_found');
  });

  test('are found by a part of the name, and only those of the kind', async () => {
    const names = ['Tidal mill', 'Windmill', 'Tide'];
    for (const name of names) await ok(s.call('POST', '/api/projects', { name }));
    await ok(s.call('POST', `${P}/apps`, { name: 'A mill of an app' }));
    const found = async (query: string) =>
      (await ok(s.call('GET', `/api/projects?${query}`))).projects.map(({ name }: { name: string }) => name);
    expect(await found('kind=direct&query=MILL')).toEqual(['Windmill', 'Tidal mill']);
    expect(await found('query=tid')).toEqual(['Tide', 'Tidal mill']);
    const { nextCursor } = await ok(s.call('GET', '/api/projects?query=mill&limit=1'));
    expect(await refusal(s.call('GET', `/api/projects?query=tid&cursor=${nextCursor as string}`))).toBe(
      '400 invalid_cursor',
    );
  });
});
