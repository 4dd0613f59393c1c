/** What looks at a pull request ask GitHub for while nothing happens there. */
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { signedIn } from '../accounts/callers.fixture.ts';
import { transaction } from '../db/transaction.ts';
import { enqueueSync } from '../pull-requests/index.ts';
import { startGithubStandIn } from '../scm/github/stand-in.fixture.ts';
import type { GithubStandIn, StandInPull } from '../scm/github/stand-in.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';

const SECRET = 'a webhook secret of ours';
let s: TestServer;
let github: GithubStandIn;
let installationId: string;
let at: string;
let prId: string;
let pull: StandInPull;

beforeAll(async () => {
  s = await startTestServer({ HEADRACE_SCM_ALLOW_PRIVATE: '1', HEADRACE_SCM_POLL_SECONDS: '86400' });
  github = await startGithubStandIn();
  await github.makeRepository({ name: 'site' });
  const installation = {
    name: 'Stand-in',
    baseUrl: github.baseUrl,
    token: github.token,
    webhookSecret: SECRET,
  };
  const cookie = await signedIn(s);
  const scm = '/api/source-control/scm';
  const made = await ok(
    s.call('POST', `${scm}/installations`, { provider: 'github', ...installation }, { cookie }),
  );
  installationId = made.installation.id;
  const found = async () => (await ok(s.call('GET', `${scm}/repositories?query=acme`))).repositories;
  await until('the repository is known', async () => (await found()).length === 1);
  const { project } = await ok(
    s.call('POST', '/api/projects', { name: 'Site', repositoryId: (await found())[0].id }),
  );
  const { thread } = await ok(s.call('POST', '/api/threads', { projectId: project.id }));
  at = `/api/threads/${thread.id as string}`;
  const now = async () => (await ok(s.call('GET', at))).thread;
  await until('the thread is prepared', async () => (await now()).initializationState === 'completed');
  const changes = [{ path: 'b', content: 'b' }];
  const { latestSourceId: expectedSourceId } = await now();
  await ok(s.call('POST', `${at}/edits`, { expectedSourceId, changes }));
  prId = (await ok(s.call('POST', `${at}/pull-requests`, {}))).pullRequest.id;
  pull = github.repositories[0]!.pulls[0]!;
  await until('it is looked at', async () => (await rowOf()).looked_at !== null);
});
afterAll(async () => {
  await s?.close();
  await github?.close();
});

const rowOf = () =>
  s.service.ctx.db.selectFrom('pull_requests').selectAll().where('id', '=', prId).executeTakeFirstOrThrow();
const shows = (unresolvedCount: number) =>
  vi.waitFor(
    async () =>
      expect((await ok(s.call('GET', `${at}/pull-requests/${prId}`))).pullRequest.scmSummary).toMatchObject({
        unresolvedCount,
      }),
    { timeout: 10_000, interval: 50 },
  );

/** A finished look may have enqueued another one. */
const quiet = () =>
  until('nothing to be under way', async () => {
    const { rows } = await sql`select from jobs where status = 'active' or run_at <= now()`.execute(
      s.service.ctx.db,
    );
    return rows.length === 0;
  });

async function poll(count: number): Promise<Record<string, number>> {
  await quiet();
  const from = github.seen.length;
  for (let n = 0; n < count; n++) {
    const row = await rowOf();
    await transaction(s.service.ctx, (tx) => enqueueSync(tx, row));
    await until('it is looked at', async () => (await rowOf()).looked_at! > row.looked_at!);
    await quiet();
  }
  const asked: Record<string, number> = {};
  for (const { path, headers } of github.seen.slice(from)) {
    const isQuery = path.endsWith('/graphql');
    // Of the repository itself other jobs ask, at times of their own.
    if (!isQuery && !/\/(pulls|commits)\//.test(path)) continue;
    const kind = isQuery ? 'query' : headers['if-none-match'] ? 'conditional' : 'plain';
    asked[kind] = (asked[kind] ?? 0) + 1;
  }
  return asked;
}

test('ten quiet polls make thirty conditional reads, and read reviews no more', async () => {
  // Its last change is over a minute ago: one in the same second would be seen.
  pull.updatedAt = '2026-01-02T03:04:05Z';
  await poll(1);
  expect(await poll(10)).toEqual({ conditional: 30 });
  const comment = {
    id: 'c',
    author: 'bob',
    association: 'MEMBER',
    body: 'Why?',
    createdAt: '2026-01-02T03:04:05Z',
  };
  pull.threads.push({ id: 't', isResolved: false, path: 'b', line: 1, comments: [comment] });
  expect(await poll(1)).toMatchObject({ query: 1 });
  await shows(1);
});

test('what changes nothing else is read with news of it, on request, and after a quarter of an hour', async () => {
  const [thread] = pull.threads;
  pull.updatedAt = '2026-01-02T03:04:05Z';
  await poll(2);
  thread!.isResolved = true;
  expect(await poll(1)).toEqual({ conditional: 3 });
  await shows(1);
  const payload = { repository: { id: github.repositories[0]!.id }, pull_request: { number: pull.number } };
  await github.deliver(`${s.base}/api/source-control/scm/webhooks/${installationId}`, {
    secret: SECRET,
    event: 'pull_request_review_thread',
    payload,
  });
  await shows(0);
  thread!.isResolved = false;
  await ok(s.call('POST', `${at}/pull-requests/${prId}/sync`, {}));
  await shows(1);
  thread!.isResolved = true;
  await s.service.ctx.db
    .updateTable('pull_requests')
    .set({ reviews_read_at: new Date(Date.now() - 16 * 60_000) })
    .where('id', '=', prId)
    .execute();
  expect(await poll(1)).toMatchObject({ query: 1 });
  await shows(0);
});

test('an idle loop with unresolved threads does not read them more often', async () => {
  pull.threads[0]!.isResolved = false;
  pull.updatedAt = '2026-01-02T03:04:05Z';
  const passed = { context: 'ci', state: 'success', description: null, url: null };
  github.repositories[0]!.statuses.push({ sha: pull.headSha, ...passed });
  await ok(s.call('PATCH', `${at}/pull-requests/${prId}/review-loop`, { enabled: true }));
  // Its point leads to no pass: there are no instructions for the agent.
  await until('the loop rests', async () => {
    const { reviewLoop } = (await ok(s.call('GET', `${at}/pull-requests/${prId}`))).pullRequest;
    return reviewLoop.blockedReason === 'not_configured';
  });
  await poll(1);
  expect(await poll(5)).toEqual({ conditional: 15 });
});
