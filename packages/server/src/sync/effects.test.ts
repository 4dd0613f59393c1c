/** Writes of pull requests break off at each of their steps outside: they are done once, and answered. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { localProvider } from '../scm/local/provider.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok, refusal } from '../threads/threads.fixture.ts';
import { breakOff, BREAKS, newBound, persist } from './sync.fixture.ts';
import type { Break } from './sync.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => s?.close());

const ways = Object.keys(BREAKS) as Break[];
const eventsOf = async (d: { projectId: string }, id: string): Promise<string[]> => {
  const { events } = (
    await s.call('GET', `/api/events?projectId=${d.projectId}&types=pull_request.updated&limit=100`)
  ).body;
  return events.flatMap((e: { data: { id: string; status: string } }) =>
    e.data.id === id ? [e.data.status] : [],
  );
};

describe('opening', () => {
  const before = ways.filter((how) => how.includes('before'));
  const cases = [
    ...before.map((how) => ({ what: 'the push', method: 'gitTransport' as const, skip: 0, how })),
    ...ways.map((how) => ({ what: 'the creation', method: 'createPullRequest' as const, skip: 0, how })),
  ];

  test.each(cases)('$what $how: one branch, one commit, one pull request', async ({ method, skip, how }) => {
    const d = await newBound(s);
    breakOff(method, how, skip);
    const { answer } = await persist(s, 'POST', d.prs, { body: 'Words.' });
    expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
    const { pullRequest: pr } = answer.body;
    const branch = `headrace/fix-the-page-${d.threadId.slice(-6)}`;
    expect([await d.branches(), pr.headRef, pr.title, pr.body]).toEqual([
      [branch, 'main'],
      branch,
      'Fix the page',
      'Words.',
    ]);
    expect(await d.git('rev-list', `main..${branch}`)).toBe(pr.headSha);
    expect((await d.pulls()).map((pull) => [pull.number, pull.threadId])).toEqual([[pr.number, d.threadId]]);
    expect((await d.threadNow()).pullRequests.map((one: { id: string }) => one.id)).toEqual([pr.id]);
    const last = await d.shows(pr.id, { scmSummary: { mergeable: 'mergeable' } });
    expect(last).toMatchObject({ headSourceId: (await d.threadNow()).latestSourceId });
    await vi.waitFor(async () => expect(await eventsOf(d, pr.id)).toHaveLength((await d.pr(pr.id)).version));
  });
});

/** Whether it was done is not known in either. */
const lost = ['is done, and its answer is lost', 'ends with the process before it is done'] as const;

describe('changing', () => {
  test.each(lost)('the change %s: it is as it was asked for', async (how) => {
    const d = await newBound(s);
    const pr = await d.open();
    breakOff('updatePullRequest', how);
    const path = `${d.prs}/${pr.id}`;
    const fields = { title: 'Another', draft: true, state: 'closed' };
    const { answer } = await persist(s, 'PATCH', path, fields);
    expect([answer.status, answer.body.pullRequest]).toMatchObject([200, fields]);
    expect(await d.pulls()).toMatchObject([fields]);
  });
});

describe('merging', () => {
  test.each(lost)('the merge %s: there is one merge, and the thread is sealed', async (how) => {
    const d = await newBound(s);
    const pr = await d.open();
    breakOff('mergePullRequest', how);
    const { answer } = await persist(s, 'POST', `${d.prs}/${pr.id}/merge`, { method: 'merge' });
    expect([answer.status, answer.body.pullRequest.state]).toEqual([200, 'merged']);
    expect(await d.git('rev-list', '--merges', 'main')).toBe(answer.body.pullRequest.mergeCommitSha);
    expect((await d.threadNow()).sealedAt).not.toBeNull();
    await vi.waitFor(async () => {
      const { project } = (await s.call('GET', `/api/projects/${d.projectId}`)).body;
      expect(project.headCommitSha).toBe(answer.body.pullRequest.mergeCommitSha);
    });
    const audited = await s.service.ctx.db
      .selectFrom('audit_entries')
      .select('action')
      .where('target_id', '=', pr.id)
      .orderBy('id')
      .execute();
    expect(audited.map(({ action }) => action)).toEqual(['pull_request.created', 'pull_request.merged']);
  });
});

test('a pull request that is opened again while its thread opens another one stays closed', async () => {
  const d = await newBound(s);
  const old = await d.open();
  await ok(s.call('PATCH', `${d.prs}/${old.id}`, { state: 'closed' }));
  const original = localProvider.createPullRequest;
  vi.spyOn(localProvider, 'createPullRequest').mockImplementationOnce(async (...args) => {
    const there = `/api/source-control/scm/repositories/${d.repositoryId}/pull-requests/${old.number as number}`;
    await ok(s.call('PATCH', there, { state: 'open' }));
    await d.shows(old.id, { state: 'open' });
    return original(...args);
  });
  const pr = await d.open();
  expect([pr.state, pr.number === old.number]).toEqual(['open', false]);
  expect((await d.pr(old.id)).state).toBe('closed');
});

test('one write of a thread at a time is outside: a second one is busy until its receipt is settled', async () => {
  const d = await newBound(s);
  const pr = await d.open();
  const underWay = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const original = localProvider.updatePullRequest;
  vi.spyOn(localProvider, 'updatePullRequest').mockImplementationOnce(async (...args) => {
    underWay.resolve();
    await goesOn.promise;
    return original(...args);
  });
  const first = s.call('PATCH', `${d.prs}/${pr.id}`, { title: 'First' });
  await underWay.promise;
  for (const [method, path] of [
    ['POST', d.prs],
    ['PATCH', `${d.prs}/${pr.id}`],
    ['POST', `${d.prs}/${pr.id}/merge`],
  ] as const)
    expect(await refusal(s.call(method, path, {})), path).toBe('409 thread_busy pull_request');
  // Work of other kinds goes on.
  await d.edit({ 'c.txt': 'c\n' });
  goesOn.resolve();
  expect((await first).status).toBe(200);
  expect((await s.call('PATCH', `${d.prs}/${pr.id}`, { title: 'Second' })).body.pullRequest.title).toBe(
    'Second',
  );
});
