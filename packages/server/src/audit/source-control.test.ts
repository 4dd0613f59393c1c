/** The audit log of source control: each write appears once, and refused or repeated writes do not. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectStatus, newAccount, signedIn, tenant } from '../accounts/callers.fixture.ts';
import { commitFiles } from '../git/git.fixture.ts';
import { runGit } from '../git/run-git.ts';
import { startGithubStandIn } from '../scm/github/stand-in.fixture.ts';
import type { GithubStandIn } from '../scm/github/stand-in.fixture.ts';
import { localFolder } from '../scm/local/folders.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBound } from '../sync/sync.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';

const SCM = '/api/source-control/scm';

let s: TestServer;
let github: GithubStandIn;
beforeAll(async () => {
  [s, github] = await Promise.all([
    startTestServer({ HEADRACE_SCM_ALLOW_PRIVATE: '1' }),
    startGithubStandIn(),
  ]);
});
afterAll(async () => {
  await s?.close();
  await github?.close();
});

interface Entry {
  action: string;
  actorId: string | null;
  targetId: string;
  address: string | null;
}

/** The entries of one address, oldest first. */
async function logOf(cookie: string): Promise<[string, string | null, string][]> {
  const { entries } = await ok(s.call('GET', '/api/audit?limit=200', undefined, { cookie }));
  const own = (entries as Entry[]).filter(({ action }) =>
    /^(installation|repository|pull_request)\./.test(action),
  );
  expect(new Set(own.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
  return own.toReversed().map(({ action, actorId, targetId }) => [action, actorId, targetId]);
}

/** Sends a write twice with one key and expects the same status twice. */
async function twice(status: number, send: (idem: string) => ReturnType<TestServer['call']>) {
  const idem = randomUUID();
  const answer = expectStatus(await send(idem), status);
  expectStatus(await send(idem), status);
  return answer.body;
}

test('installations, repositories and their pull requests', async () => {
  const { cookie } = await tenant(s);
  const me = (await s.call('GET', '/api/session', undefined, { cookie })).body.user.id as string;
  const { key, account } = await newAccount(s, cookie);
  const bySession = (method: string, path: string, body?: unknown, idem?: string) =>
    s.call(method, SCM + path, body, { cookie, ...(idem ? { idem } : {}) });
  const byKey = (method: string, path: string, body?: unknown, idem?: string) =>
    s.call(method, SCM + path, body, { key, ...(idem ? { idem } : {}) });

  const fields = { provider: 'github', name: 'Stand-in', baseUrl: github.baseUrl };
  expectStatus(await bySession('POST', '/installations', { ...fields, token: 'ghp_wrong' }), 400);
  const { installation } = await twice(201, (idem) =>
    bySession('POST', '/installations', { ...fields, app: github.app }, idem),
  );
  const installed = `/installations/${installation.id}`;
  expectStatus(await bySession('PATCH', installed, { token: 'ghp_wrong' }), 400);
  await twice(200, (idem) => bySession('PATCH', installed, { name: 'Another' }, idem));
  await twice(200, (idem) => bySession('DELETE', installed, undefined, idem));

  const name = `r-${randomUUID()}`;
  const files = [{ path: 'a.txt', content: 'a\n' }];
  const { repository } = await twice(201, (idem) => byKey('POST', '/repositories', { name, files }, idem));
  const { id } = repository;
  expectStatus(await byKey('POST', '/repositories', { name }), 409);
  const at = `/repositories/${id}`;
  expectStatus(await byKey('PATCH', at, { defaultBranch: 'none' }), 404);
  await twice(200, (idem) => bySession('PATCH', at, { requiredChecks: [] }, idem));

  const folder = localFolder(s.service.ctx.config, id);
  await runGit(folder, ['update-ref', 'refs/heads/work', 'refs/heads/main']);
  await commitFiles(folder, 'work', [{ path: 'b.txt', content: 'b\n' }]);
  const opening = { title: 'x', headRef: 'work' };
  await twice(201, (idem) => byKey('POST', `${at}/pull-requests`, opening, idem));
  expectStatus(await byKey('POST', `${at}/pull-requests`, opening), 409);
  expectStatus(await byKey('POST', `${at}/pull-requests/1/merge`, { expectedHeadSha: '1'.repeat(40) }), 409);
  await twice(200, (idem) => bySession('POST', `${at}/pull-requests/1/merge`, {}, idem));
  await twice(200, (idem) => byKey('DELETE', at, undefined, idem));

  expect(await logOf(cookie)).toEqual([
    ['installation.created', me, installation.id],
    ['installation.updated', me, installation.id],
    ['installation.deleted', me, installation.id],
    ['repository.created', account.id, id],
    ['repository.updated', me, id],
    ['pull_request.created', account.id, `${id}#1`],
    ['pull_request.merged', me, `${id}#1`],
    ['repository.deleted', account.id, id],
  ]);
});

test("threads' pull requests: who opened, took over and merged them", async () => {
  const cookie = await signedIn(s);
  const d = await newBound(s);
  const { pullRequest: pr } = await twice(201, (idem) => s.call('POST', d.prs, {}, { idem }));
  expectStatus(await s.call('POST', d.prs, {}), 409);
  const { thread } = await ok(s.call('POST', '/api/threads', { projectId: d.projectId }));
  const at = `/api/threads/${thread.id as string}`;
  await until('the other thread', async () => (await ok(s.call('GET', at))).thread.baseCommitSha !== null);
  expectStatus(await s.call('POST', `${at}/pull-requests`, { number: 999 }), 404);
  const { pullRequest: taken } = await twice(201, (idem) =>
    s.call('POST', `${at}/pull-requests`, { number: pr.number }, { cookie, idem }),
  );
  const merging = `${at}/pull-requests/${taken.id}/merge`;
  expectStatus(await s.call('POST', merging, { expectedHeadSha: '1'.repeat(40) }, { cookie }), 409);
  await twice(200, (idem) => s.call('POST', merging, {}, { cookie, idem }));

  const log = (await logOf(cookie)).filter(([, , targetId]) => [pr.id, taken.id].includes(targetId));
  expect(log).toEqual([
    ['pull_request.created', expect.stringMatching(/^sa_/), pr.id],
    ['pull_request.created', expect.stringMatching(/^usr_/), taken.id],
    ['pull_request.merged', expect.stringMatching(/^usr_/), taken.id],
  ]);
});
