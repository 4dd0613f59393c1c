import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { baseAtSource } from '../checkpoints/index.ts';
import { transaction } from '../db/transaction.ts';
import { runGit } from '../git/run-git.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { loadTree } from '../sources/index.ts';
import { lockThreadById, writeThread } from '../threads/index.ts';
import { newApp, ok, refusal, sh, until } from '../threads/threads.fixture.ts';
import { fetchStart, resolveStart } from './fetch-start.ts';
import { newBoundProject, prepared, preparedThread } from './repositories.fixture.ts';
import { keepUnsaved } from './save-workspace.ts';
import { hurry } from './workspaces.fixture.ts';

let s: TestServer;
let calm: () => void;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_REPOSITORY_MAX_FILES: '20' });
  calm = hurry(s);
});
afterAll(async () => {
  calm?.();
  await s?.close();
});

const projectOf = async (id: string) => (await ok(s.call('GET', `/api/projects/${id}`))).project;
const headsOf = async (at: string) =>
  (await ok(s.call('GET', `${at}/source-head/history`))).heads.map(
    (h: { revision: number; sourceId: string; applyId: unknown }) => [h.revision, h.sourceId, h.applyId],
  );
const eventsOf = async (projectId: string): Promise<{ type: string; data: Record<string, unknown> }[]> =>
  (await ok(s.call('GET', `/api/events?limit=500&projectId=${projectId}`))).events.filter(
    (e: { type: string }) => e.type !== 'operation.updated',
  );
const exec = async (threadId: string, command: string) =>
  (await ok(s.call('POST', `/api/threads/${threadId}/exec`, { command }))).exec;

describe('projects', () => {
  test('are bound for good, list by repository, and refuse what is for heads without a branch', async () => {
    const bound = await newBoundProject(s, { a: 'a' });
    expect(await projectOf(bound.id)).toMatchObject({
      repositoryId: bound.repositoryId,
      defaultBranch: 'main',
      headSourceId: null,
      headCommitSha: null,
    });
    const { projects } = await ok(s.call('GET', `/api/projects?repositoryId=${bound.repositoryId}`));
    expect(projects.map((p: { id: string }) => p.id)).toEqual([bound.id]);
    expect(await refusal(s.call('PATCH', bound.at, { repositoryId: bound.repositoryId }))).toBe(
      '400 invalid_request /repositoryId',
    );
    expect(await refusal(s.call('PATCH', bound.at, { defaultBranch: null }))).toBe(
      '400 invalid_request /defaultBranch',
    );
    expect(await refusal(s.call('PATCH', bound.at, { defaultBranch: 'a..b' }))).toBe(
      '400 invalid_request /defaultBranch',
    );
    const thread = await preparedThread(s, bound.id);
    const expectedSourceId = thread.latestSourceId;
    const at = `/api/threads/${thread.id}`;
    const clientOperationId = randomUUID();
    for (const refused of [
      s.call('POST', `${bound.at}/sources`, { files: [] }),
      s.call('POST', `${bound.at}/source-head/initialize`, { sourceId: thread.sourceId }),
      s.call('POST', `${at}/apply/preview`, { expectedSourceId }),
      s.call('POST', `${at}/apply`, { expectedSourceId, clientOperationId }, { idem: clientOperationId }),
    ])
      expect(await refusal(refused)).toBe('409 repository_bound');
  });

  test('of a repository that is unknown or deleted are not made', async () => {
    const { repositoryId, at } = await newBoundProject(s, null);
    await ok(s.call('DELETE', at));
    await s.service.ctx.db
      .updateTable('repositories')
      .set({ deleted_at: new Date() })
      .where('id', '=', repositoryId)
      .execute();
    for (const id of [repositoryId, 'repo_01k9x3v5e8f7arh2m4t6w8y0zb', 'r'])
      expect(await refusal(s.call('POST', '/api/projects', { name: 'x', repositoryId: id }))).toBe(
        '404 repository_not_found',
      );
  });
});

test('a thread that is slow to be fetched does not move the head back', async () => {
  const project = await newBoundProject(s, { 'a.txt': 'one\n' });
  const { ctx } = s.service;
  const rowOf = (id: string) =>
    ctx.db.selectFrom('threads').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const slow = await preparedThread(s, project.id);
  const before = await ctx.db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow();
  // As it was when the slow one began.
  const thread = { ...(await rowOf(slow.id)), source_id: null };
  const start = (await resolveStart(ctx, { thread, project: before }))!;
  const next = await project.commit('main', { 'a.txt': 'two\n' });
  await preparedThread(s, project.id);
  await fetchStart(ctx, { fence: async () => {} }, { thread, project: before }, start);
  expect((await projectOf(project.id)).headCommitSha).toBe(next);
  expect((await rowOf(slow.id)).base_commit_sha).toBe(start.commitSha);
});

test('a thread starts from what its branch has when it is prepared, and the head follows the default branch', async () => {
  const project = await newBoundProject(s, { 'a.txt': 'one\n' });
  const { thread: made } = await ok(s.call('POST', '/api/threads', { projectId: project.id }));
  expect(made).toMatchObject({
    baseBranch: 'main',
    sourceId: null,
    latestSourceId: null,
    baseCommitSha: null,
    automationId: null,
  });
  const first = await prepared(s, made.id);
  const tip = (await projectOf(project.id)).headCommitSha;
  expect(first).toMatchObject({
    latestSourceId: first.sourceId,
    baseCommitSha: tip,
    initializationAttemptCount: 1,
  });
  const types = (await eventsOf(project.id)).map(({ type }) => type);
  const at = types.indexOf('platform.source.imported');
  expect(types.slice(at, at + 3)).toEqual([
    'platform.source.imported',
    'platform.head.updated',
    'thread.updated',
  ]);

  const next = await project.commit('main', { 'a.txt': 'two\n' });
  expect(await headsOf(project.at)).toEqual([[1, first.sourceId, null]]);
  const second = await preparedThread(s, project.id);
  expect(second.baseCommitSha).toBe(next);
  expect((await exec(second.id, 'cat a.txt; git rev-parse HEAD')).stdout).toBe(`two\n${next}\n`);

  // Another branch moves no head; a rewritten one does, back to a source that is stored.
  const other = await project.commit('feature/x', { 'b.txt': 'b\n' });
  const third = await preparedThread(s, project.id, { baseBranch: 'feature/x' });
  expect([third.baseCommitSha, third.baseBranch]).toEqual([other, 'feature/x']);
  await runGit(project.folder, ['update-ref', 'refs/heads/main', tip]);
  expect((await preparedThread(s, project.id)).sourceId).toBe(first.sourceId);
  expect(await headsOf(project.at)).toEqual([
    [1, first.sourceId, null],
    [2, second.sourceId, null],
    [3, first.sourceId, null],
  ]);
  expect((await ok(s.call('GET', `${project.at}/sources`))).sources).toHaveLength(3);
});

test('a thread from a source of a commit knows it at once; other sources and both ways together are refused', async () => {
  const project = await newBoundProject(s, { 'a.txt': 'one\n' });
  const first = await preparedThread(s, project.id);
  await project.commit('main', { 'a.txt': 'two\n' });
  const create = (fields: Record<string, unknown>) =>
    s.call('POST', '/api/threads', { projectId: project.id, ...fields });
  const { thread } = await ok(create({ sourceId: first.sourceId }));
  expect(thread).toMatchObject({
    sourceId: first.sourceId,
    latestSourceId: first.sourceId,
    baseCommitSha: first.baseCommitSha,
    baseBranch: 'main',
  });
  await prepared(s, thread.id);
  expect((await exec(thread.id, 'cat a.txt; echo new > new.txt')).stdout).toBe('one\n');
  const { thread: now } = await ok(s.call('GET', `/api/threads/${thread.id}`));
  expect(now.latestSourceId).not.toBe(first.sourceId);
  expect((await projectOf(project.id)).headRevision).toBe(1);
  expect(await refusal(create({ sourceId: now.latestSourceId }))).toBe('409 source_not_in_history');
  expect(await refusal(create({ sourceId: first.sourceId, baseBranch: 'main' }))).toBe(
    '400 invalid_request /baseBranch',
  );
  expect(await refusal(create({ baseBranch: 'a..b' }))).toBe('400 invalid_request /baseBranch');
  expect(await refusal(create({ baseBranch: '\u00e4'.repeat(128) }))).toBe('400 invalid_request /baseBranch');
  const { project: plain } = await ok(s.call('POST', '/api/projects', { name: 'Plain' }));
  expect(await refusal(create({ projectId: plain.id, baseBranch: 'main' }))).toBe('409 repository_not_bound');
});

test('a fork stands on the commit of its thread, whatever the branch has by now', async () => {
  const project = await newBoundProject(s, { 'a.txt': 'one\n' });
  const first = await preparedThread(s, project.id, { trackerIssueUrl: 'https://tracker.example.com/1' });
  await exec(first.id, 'echo new > new.txt');
  await project.commit('main', { 'a.txt': 'two\n' });
  const { thread } = await ok(s.call('POST', `/api/threads/${first.id}/fork`, {}));
  const { latestSourceId } = (await ok(s.call('GET', `/api/threads/${first.id}`))).thread;
  expect(await prepared(s, thread.id)).toMatchObject({
    sourceId: first.sourceId,
    latestSourceId,
    baseCommitSha: first.baseCommitSha,
    baseBranch: 'main',
    forkedFrom: { threadId: first.id, checkpointId: null, sourceId: latestSourceId },
    tasks: [],
    trackerIssueUrl: null,
  });
  await ok(s.call('DELETE', `/api/threads/${first.id}`));
  expect((await exec(thread.id, 'git rev-parse HEAD; git status --short; cat a.txt')).stdout).toBe(
    `${first.baseCommitSha}\n?? new.txt\none\n`,
  );
});

test('what is kept of a workspace that was left behind has the base that it had there', async () => {
  const project = await newBoundProject(s, { 'a.txt': 'one\n' });
  const first = await preparedThread(s, project.id);
  const next = await project.commit('main', { 'a.txt': 'two\n' });
  const { sourceId: nextSourceId } = await preparedThread(s, project.id);
  const { ctx } = s.service;
  /** The base of what is kept, once the thread has moved to the next commit. */
  const baseOfKept = (held: string | null, archivedAt: Date | null = null) =>
    transaction(ctx, async (tx) => {
      await writeThread(tx, first.id, {
        latest_source_id: nextSourceId,
        base_commit_sha: next,
        workspace_source_id: held,
        archived_at: archivedAt,
      });
      const loaded = (await lockThreadById(tx, first.id))!;
      const tree = await loadTree(ctx, first.sourceId);
      const id = await keepUnsaved(tx, loaded, {
        present: {} as never,
        source: { tree, staged: null },
        at: held,
      });
      return baseAtSource(tx.db, first.id, id);
    });
  const { sourceId: edited } = await exec(first.id, 'echo new > new.txt');
  const { baseCommitSha } = first;
  expect(await baseOfKept(first.sourceId)).toBe(baseCommitSha);
  expect(await baseOfKept(edited)).toBe(baseCommitSha);
  expect(await baseOfKept(nextSourceId)).toBe(next);
  expect(await baseOfKept(null)).toBeNull();
  expect(await baseOfKept(null, new Date())).toBe(next);
});

test.each([
  ['http://user@tracker.example.com/1', '/trackerIssueUrl'],
  ['ftp://tracker.example.com/1', '/trackerIssueUrl'],
  ['https://:secret@tracker.example.com/1', '/trackerIssueUrl'],
])('the issue address %s is refused', async (url, path) => {
  const { project } = await ok(s.call('POST', '/api/projects', { name: 'Plain' }));
  const create = (fields: Record<string, unknown>) =>
    s.call('POST', '/api/threads', { projectId: project.id, ...fields });
  expect(await refusal(create({ trackerIssueUrl: url }))).toBe(`400 invalid_request ${path}`);
  const issue = { issueId: '1', projectId: '2', projectSlug: 'web', organizationSlug: 'acme', url };
  expect(await refusal(create({ errorTrackerIssue: issue }))).toBe(
    '400 invalid_request /errorTrackerIssue/url',
  );
  const fine = { ...issue, url: 'https://errors.example.com/issues/1?a=b@c' };
  expect((await ok(create({ errorTrackerIssue: fine }))).thread.errorTrackerIssue).toEqual(fine);
});

describe('a preparation fails at once', () => {
  async function failed(projectId: string, fields: Record<string, unknown> = {}) {
    const { thread: made, run } = await ok(
      s.call('POST', '/api/threads', { projectId, message: { content: sh('cat a.txt > b.txt') }, ...fields }),
    );
    const thread = await prepared(s, made.id, 'failed');
    const { run: ended } = await ok(s.call('GET', `/api/threads/${made.id}/runs/${run.id}?waitSeconds=30`));
    expect(ended).toMatchObject({
      status: 'failed',
      startedAt: null,
      error: { code: 'workspace_unavailable', message: thread.initializationErrorMessage },
    });
    expect(thread).toMatchObject({ status: 'failed', initializationAttemptCount: 1, sourceId: null });
    expect(thread.initializationErrorMessage).not.toMatch(/:\/\/|_[0-7][0-9a-z]{25}|\//);
    return thread;
  }

  test('without the branch; with it a message begins anew', async () => {
    const project = await newBoundProject(s, { 'a.txt': 'a\n' });
    const thread = await failed(project.id, { baseBranch: 'later' });
    expect(thread.initializationErrorCode).toBe('branch_not_found');
    // Nothing works in an empty workspace meanwhile.
    expect((await s.call('POST', `/api/threads/${thread.id}/exec`, { command: 'true' })).status).toBe(503);
    const tip = await project.commit('later', { 'a.txt': 'later\n' });
    await ok(s.call('POST', `/api/threads/${thread.id}/messages`, { content: sh('cat a.txt > b.txt') }));
    expect(await prepared(s, thread.id)).toMatchObject({
      baseCommitSha: tip,
      initializationErrorCode: null,
      initializationErrorMessage: null,
      initializationAttemptCount: 1,
    });
  });

  test('with an empty repository, a commit that is too large, and a repository that is gone', async () => {
    const empty = await newBoundProject(s, null);
    expect((await failed(empty.id)).initializationErrorCode).toBe('repository_empty');
    const files = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, '']));
    const large = await newBoundProject(s, files);
    expect((await failed(large.id)).initializationErrorCode).toBe('repository_too_large');
    const gone = await newBoundProject(s, { 'a.txt': 'a\n' });
    const { db } = s.service.ctx;
    await db
      .updateTable('repositories')
      .set({ gone_at: new Date() })
      .where('id', '=', gone.repositoryId)
      .execute();
    expect((await failed(gone.id)).initializationErrorCode).toBe('repository_not_found');
  });
});

test('a repository that cannot be reached is tried three times', async () => {
  const project = await newBoundProject(s, { 'a.txt': 'a\n' });
  // A part of the commit is lost.
  const blob = (await runGit(project.folder, ['rev-parse', 'main:a.txt'])).output.toString();
  await rm(`${project.folder}/objects/${blob.slice(0, 2)}`, { recursive: true });
  const thread = await preparedThread(s, project.id, {}, 'failed');
  expect([thread.initializationErrorCode, thread.initializationAttemptCount]).toEqual([
    'repository_unavailable',
    3,
  ]);
});

test('what is of an app is of a project without a repository, which a thread may begin from nothing', async () => {
  const { project } = await ok(s.call('POST', '/api/projects', { name: 'Plain' }));
  const at = `/api/projects/${project.id}`;
  const thread = await preparedThread(s, project.id);
  expect(thread).toMatchObject({ sourceId: null, baseBranch: null, baseCommitSha: null });
  const { sourceId } = await exec(thread.id, 'echo x > x.txt');
  const { head } = await ok(s.call('POST', `${at}/source-head/initialize`, { sourceId }));
  expect((await ok(s.call('GET', `${at}/source-head`))).head).toEqual(head);
  expect(
    (await ok(s.call('PATCH', `${at}/settings`, { idleTimeoutMinutes: 7 }))).settings.idleTimeoutMinutes,
  ).toBe(7);
  const nowhere = '/api/projects/prj_01k9x3v5e8f7arh2m4t6w8y0zb';
  for (const path of ['/sources', '/source-head', '/applies', '/settings', `/sources/${sourceId}/files`])
    expect(await refusal(s.call('GET', nowhere + path))).toBe('404 project_not_found');
  const { appId } = await newApp(s);
  expect((await ok(s.call('GET', `/api/projects/${appId}/sources`))).sources).toHaveLength(1);
  await until('the events of the project', async () => {
    const events = await eventsOf(project.id);
    return events.some(({ type }) => type === 'platform.head.updated') && events;
  });
});
